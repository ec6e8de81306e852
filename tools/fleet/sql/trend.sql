-- title: the mean time of kernels, hour by hour
SELECT toString(toStartOfHour(minute), 'UTC') AS hour, sum(count) AS calls, sum(sum) AS total_ns, total_ns / calls AS mean_ns,
    uniqExact(run) AS runs, uniqExact(host) AS hosts
FROM rtl_kernel_stats
WHERE run GLOBAL IN {runs} AND {in_time} AND {of_kernel}
GROUP BY hour
ORDER BY hour
LIMIT {top}
