-- title: kernels that differ most from GPU to GPU
SELECT count() AS gpus, avg(mean) AS mean_ns, stddevPop(mean) / avg(mean) AS deviation_share, min(mean) AS least_ns,
    max(mean) AS most_ns, argMax(where_, mean) AS slowest, argMax(device, mean) AS slowest_device,
    name
FROM (
    SELECT name, concat(toString(host), ' GPU ', toString(min(gpu))) AS where_, device, sum(sum) / sum(count) AS mean
    FROM rtl_kernel_stats
    WHERE run GLOBAL IN {runs} AND {in_time} AND {of_kernel}
    GROUP BY name, host, device
)
GROUP BY name
HAVING gpus > 1
ORDER BY deviation_share DESC, name
LIMIT {top}
