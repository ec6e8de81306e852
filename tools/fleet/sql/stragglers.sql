-- title: which rank of a job came last into its collectives, how often, and how long the others waited
-- The runs are those of one job. A collective's kernels end together: the rank with the shortest one came last, if any
-- other waited. Collectives of a number are one of the job where each rank has one, of the same name: the rest is left out.
SELECT rank, host, sum(late) AS slowest_in, if(steps = 0, 0, slowest_in / steps) AS slowest_share,
    sum(if(late, waited, 0)) AS waited_ns, max(if(late, most, 0)) AS longest_wait_ns, sum(judged) AS steps,
    count() - steps AS left_out
FROM (
    SELECT tupleElement(member, 2) AS rank, tupleElement(member, 3) AS host, judged, waited, most,
        judged AND most > 0 AND rank = tupleElement(arrayElement(members, 1), 2) AS late
    FROM (
        SELECT arraySort(groupArray((duration, toString(rank), toString(host)))) AS members,
            sum(duration) - count() * min(duration) AS waited, max(duration) - min(duration) AS most,
            count() = (SELECT uniqExact(run, process) FROM rtl_collectives WHERE run GLOBAL IN {runs}) AND count() > 1
                AND uniqExact(rank) = count() AND uniqExact(name) = 1 AS judged
        FROM rtl_collectives
        WHERE run GLOBAL IN {runs}
        GROUP BY number
    )
    ARRAY JOIN members AS member
)
GROUP BY rank, host
ORDER BY slowest_in DESC, rank, host
LIMIT {top}
