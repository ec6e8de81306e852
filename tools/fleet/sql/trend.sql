-- title: the mean time of kernels, hour by hour, of the last hours with any
SELECT *
FROM (
    SELECT toString(toDateTime(intDiv(toUInt32(minute), 3600) * 3600), 'UTC') AS hour, sum(count) AS calls, sum(sum) AS total_ns,
        total_ns / calls AS mean_ns, uniqExact(run) AS runs, uniqExact(host) AS hosts
    FROM rtl_kernel_stats
    WHERE run GLOBAL IN {runs} AND {in_time} AND {of_kernel}
    GROUP BY hour
    ORDER BY hour DESC
    LIMIT {top}
)
ORDER BY hour
