-- title: how much of the time GPUs were idle while they were recorded
SELECT host, min(number) AS gpu, 1 - sum(busy) / sum(span) AS idle_share, sum(span) - sum(busy) AS idle_ns,
    sum(span) AS recorded_ns, uniqExact(run) AS runs, device
FROM (
    SELECT host, device, gpu AS number, busy, span, run
    FROM rtl_gpus
    WHERE run GLOBAL IN {runs} AND {in_time}
)
GROUP BY host, device
ORDER BY idle_share DESC, host, gpu, device
LIMIT {top}
