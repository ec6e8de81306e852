-- title: launches of graphs: how long they took on the GPU, per rank
SELECT host, rank, graph, count() AS launches, sum(end - start) / launches AS mean_ns,
    quantileExact(0.5)(end - start) AS p50_ns, quantileExact(0.99)(end - start) AS p99_ns, max(end - start) AS max_ns,
    sum(expected) - sum(kernels) AS missing
FROM rtl_launches
WHERE run GLOBAL IN {runs} AND start >= {from} AND start < {to} AND end > 0
GROUP BY run, process, host, rank, graph
ORDER BY p99_ns DESC, host, rank, graph
LIMIT {top}
