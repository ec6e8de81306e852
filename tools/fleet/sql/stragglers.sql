-- title: which rank of a job came last into its collectives, how often, and how long the others waited
-- The runs are those of one job. A collective's kernels end together: the rank with the shortest one came last.
SELECT tupleElement(last, 1) AS rank, tupleElement(last, 2) AS host, count() AS slowest_in,
    slowest_in / any(steps) AS slowest_share, sum(waited) AS waited_ns, max(most) AS longest_wait_ns
FROM (
    SELECT number, argMin((rank, host), duration) AS last, sum(duration) - count() * min(duration) AS waited,
        max(duration) - min(duration) AS most, 1 AS one
    FROM rtl_collectives
    WHERE run GLOBAL IN {runs}
    GROUP BY number
    HAVING count() > 1
)
ANY INNER JOIN (
    SELECT count() AS steps, 1 AS one
    FROM (SELECT number FROM rtl_collectives WHERE run GLOBAL IN {runs} GROUP BY number HAVING count() > 1)
) USING one
GROUP BY last
ORDER BY slowest_in DESC, rank, host
LIMIT {top}
