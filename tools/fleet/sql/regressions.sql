-- title: kernels that are slower in the runs of --after than in those of --before, by more than runs differ anyway
-- needs: before after
-- The mean of each run is one value: Welch's t over runs, at 5 % two-sided. Of one run nobody knows how runs differ.
-- With --by runs of one value of the label are one run.
-- Sums of equal values round apart: means that differ by less than 1e-7 are the same.
SELECT mean_before AS before_ns, mean_after AS after_ns, mean_after / mean_before - 1 AS change_share, runs_before,
    runs_after, sqrt(greatest(spread_before, 0)) AS deviation_before_ns, sqrt(greatest(spread_after, 0)) AS deviation_after_ns,
    (mean_after - mean_before) * calls_after / runs_after AS cost_of_a_run_ns,
    multiIf(runs_before < 2 OR runs_after < 2, 'one run', abs(mean_after - mean_before) <= 1e-7 * mean_before, 'same',
        abs(mean_after - mean_before) <= critical * sqrt(greatest(error, 0)), 'same', mean_after > mean_before, 'slower',
        'faster') AS verdict,
    name
FROM (
    SELECT name, countIf(late = 0) AS runs_before, countIf(late) AS runs_after, avgIf(mean, late = 0) AS mean_before,
        avgIf(mean, late) AS mean_after, sumIf(calls, late) AS calls_after,
        if(runs_before > 1, varSampIf(mean, late = 0), 0) AS spread_before,
        if(runs_after > 1, varSampIf(mean, late), 0) AS spread_after,
        spread_before / runs_before AS a, spread_after / runs_after AS b, a + b AS error,
        error > 0 ? error * error / (a * a / greatest(runs_before - 1, 1) + b * b / greatest(runs_after - 1, 1)) : 1 AS freedom,
        arrayElement([12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
            2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042],
            toUInt8(greatest(1, least(30, floor(freedom))))) AS critical
    FROM (
        SELECT name, unit, late, sum(total) / sum(launched) AS mean, sum(launched) AS calls
        FROM (
            SELECT name, run, sum(sum) AS total, sum(count) AS launched, max(run GLOBAL IN {after}) AS late
            FROM rtl_kernel_stats
            WHERE (run GLOBAL IN {before} OR run GLOBAL IN {after}) AND {in_time} AND {of_kernel}
            GROUP BY name, run
        ) AS here
        ALL LEFT JOIN (SELECT run, any({by}) AS unit FROM rtl_runs GROUP BY run) AS units USING run
        GROUP BY name, unit, late
    )
    GROUP BY name
    HAVING runs_before > 0 AND runs_after > 0
)
ORDER BY verdict = 'slower' DESC, cost_of_a_run_ns DESC, name
LIMIT {top}
