-- title: how much of the time GPUs were idle while they were recorded
SELECT host, gpu, 1 - sum(busy) / sum(span) AS idle_share, sum(span) - sum(busy) AS idle_ns, sum(span) AS recorded_ns,
    uniqExact(run) AS runs
FROM rtl_gpus
WHERE run GLOBAL IN {runs} AND {in_time}
GROUP BY host, gpu
ORDER BY idle_share DESC, host, gpu
LIMIT {top}
