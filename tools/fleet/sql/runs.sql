-- title: the runs that are there, those that are not loaded completely among them
SELECT toString(run) AS run, toString(toDateTime(intDiv(min(begin), 1000000000), 'UTC')) AS began,
    max(end) - min(begin) AS lasted_ns, uniqExact(host) AS hosts, uniqExact(process) AS processes,
    sum(kernels) AS kernels, sum(lost) AS lost, any(sample) AS sample, if(max(whole), 'yes', 'no') AS loaded,
    multiIf(min(ended) AND lost = 0, 'whole', min(ended), concat('lost ', toString(lost)), lost = 0, 'not finished',
        concat('not finished, lost ', toString(lost))) AS recorded, any(labels) AS labels, any(trace) AS trace
FROM (
    SELECT run, process, any(host) AS host, any(begin) AS begin, any(end) AS end, any(kernels) AS kernels,
        any(lost) AS lost, any(sample) AS sample, max(complete) AS whole, any(finished) AS ended, any(trace) AS trace,
        any(arrayStringConcat(arrayMap((k, v) -> concat(k, '=', v), label_keys, label_values), ' ')) AS labels
    FROM rtl_runs
    WHERE run GLOBAL IN {any_runs}
    GROUP BY run, process
)
GROUP BY run
ORDER BY began DESC, run
LIMIT {top}
