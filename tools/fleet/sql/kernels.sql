-- title: the kernels that took most time, with quantiles within 1/32
SELECT calls, total_ns, total_ns / calls AS mean_ns, min_ns,
    least(most, greatest(lowest, arrayElement(middles, arrayFirstIndex(c -> c >= 0.5 * calls, sums)))) AS p50_ns,
    least(most, greatest(lowest, arrayElement(middles, arrayFirstIndex(c -> c >= 0.99 * calls, sums)))) AS p99_ns,
    max_ns, hosts, name
FROM (
    SELECT name, sum(count) AS calls, sum(sum) AS total_ns, min(min) AS min_ns, max(max) AS max_ns,
        toFloat64(min_ns) AS lowest, toFloat64(max_ns) AS most, uniqExact(host) AS hosts,
        sumMap(bins, counts) AS spread, arrayCumSum(tupleElement(spread, 2)) AS sums,
        arrayMap(b -> b < 16 ? toFloat64(b) : (16.5 + b % 16) * pow(2, intDiv(b, 16) - 1),
            tupleElement(spread, 1)) AS middles
    FROM rtl_kernel_stats
    WHERE run GLOBAL IN {runs} AND {in_time} AND name GLOBAL IN (
        SELECT name
        FROM rtl_kernel_stats
        WHERE run GLOBAL IN {runs} AND {in_time} AND {of_kernel}
        GROUP BY name
        ORDER BY sum(sum) DESC, name
        LIMIT {top}
    )
    GROUP BY name
)
ORDER BY total_ns DESC, name
LIMIT {top}
