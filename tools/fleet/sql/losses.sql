-- title: kernels that were seen and are in no trace, by host and reason
SELECT host, reason, sum(count) AS lost, uniqExact(run) AS runs
FROM rtl_losses
WHERE run GLOBAL IN {runs}
GROUP BY host, reason
ORDER BY lost DESC, host, reason
LIMIT {top}
