-- title: the slowest hosts: time of their kernels, against what those of the same names take on average everywhere
SELECT host, sum(total) / sum(times * everywhere) - 1 AS slower_share, sum(total) AS total_ns, sum(times) AS calls,
    length(groupUniqArrayArray(devices)) AS gpus, uniqExact(name) AS names
FROM (
    SELECT host, name, groupUniqArray(device) AS devices, sum(sum) AS total, sum(count) AS times
    FROM rtl_kernel_stats
    WHERE run GLOBAL IN {runs} AND {in_time} AND {of_kernel}
    GROUP BY host, name
) AS here
ALL INNER JOIN (
    SELECT name, sum(sum) / sum(count) AS everywhere
    FROM rtl_kernel_stats
    WHERE run GLOBAL IN {runs} AND {in_time} AND {of_kernel}
    GROUP BY name
) AS means USING name
GROUP BY host
ORDER BY slower_share DESC, host
LIMIT {top}
