-- title: the slowest GPUs: time of their kernels, against what those of the same names take on average everywhere
SELECT host, min(number) AS gpu, sum(total) / sum(times * everywhere) - 1 AS slower_share, sum(total) AS total_ns, sum(times) AS calls,
    device
FROM (
    SELECT host, device, min(gpu) AS number, name, sum(sum) AS total, sum(count) AS times
    FROM rtl_kernel_stats
    WHERE run GLOBAL IN {runs} AND {in_time} AND {of_kernel}
    GROUP BY host, device, name
) AS here
ALL INNER JOIN (
    SELECT name, sum(sum) / sum(count) AS everywhere
    FROM rtl_kernel_stats
    WHERE run GLOBAL IN {runs} AND {in_time} AND {of_kernel}
    GROUP BY name
) AS means USING name
GROUP BY host, device
ORDER BY slower_share DESC, host, gpu, device
LIMIT {top}
