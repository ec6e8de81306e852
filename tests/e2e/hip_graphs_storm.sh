#!/usr/bin/env bash
# hip_graphs_storm.sh BUILD PLUGIN NODES REPLAYS [NS]: a graph of so many kernels, launched so many times without a pause but
# for a wait behind each thousand, in full mode: nothing is lost, the trace is what the device executed, and each kernel is in its
# launch and of its node. Node i lasts NS (100) + 10 * (i % 50) ns; where NS is named, it is long enough that the program waits for
# room in its queue's ring, which must have been full then.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1
nodes=$2 replays=$3 ns=${4:-}
kernels=$((nodes * replays))

SOFTGPU_TRUTH=truth "$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/hip_graphs" storm "$nodes" "$replays" 0 "${ns:-100}" \
    >traced.out 2>traced.err || fail "the program ended with status $?"
equal "the program's output" "$(cat traced.out)" "$kernels kernels
all is well"
"$rtl" check --truth truth t.db >check.out 2>check.err || fail "rtl check --truth ended with status $?"
equal "kernels that the device executed" \
    "$("$build/bin/softgpu-run" --truth truth | grep -c '^kernel .*hip_lasts')" "$kernels"

equal "kernels, in a launch, of a node, certain" "$(ask t.db "
    SELECT count(*), count(launch), count(node), sum(certain) FROM kernels")" "$kernels|$kernels|$kernels|$kernels"
equal "kernels that last as long as their node" \
    "$(ask t.db "SELECT count(*) FROM kernels WHERE duration = ${ns:-100} + 10 * (node % 50)")" "$kernels"
equal "launches of graphs" "$(ask t.db "SELECT count(*), count(DISTINCT launch), count(DISTINCT correlation),
    min(kernels), max(kernels), min(expected), max(expected), min(certain) FROM graph_launches WHERE graph = 1")" \
    "$replays|$replays|$replays|$nodes|$nodes|$nodes|$nodes|1"
equal "launches that are not one of each node, of their call and after it" "$(ask t.db "
    WITH seen AS MATERIALIZED (SELECT launch, count(*) AS kernels, count(DISTINCT node) AS nodes, min(node) AS first,
                                      max(node) AS last, min(correlation) AS correlation, max(correlation) AS other,
                                      min(start) AS start, max(end) AS end
                               FROM kernels GROUP BY launch),
         launches AS MATERIALIZED (SELECT launch, start, end, correlation FROM graph_launches),
         calls AS MATERIALIZED (SELECT correlation, start FROM api WHERE name = 'hipGraphLaunch')
    SELECT $replays - count(*) FROM seen JOIN launches l USING (launch) JOIN calls c ON c.correlation = l.correlation
    WHERE seen.kernels = $nodes AND seen.nodes = $nodes AND seen.first = 0 AND seen.last = $nodes - 1
      AND seen.correlation = l.correlation AND seen.other = l.correlation
      AND seen.start = l.start AND seen.end = l.end AND l.start >= c.start")" 0
equal "launches that begin before the one before has ended" "$(ask t.db "
    SELECT count(*) FROM (SELECT start, lag(end) OVER (ORDER BY launch) AS before FROM graph_launches)
    WHERE start < before")" 0

# How far the device is behind when a launch returns: in how many launches the ring is more than half full. That is most of them
# where the program has a processor when it wants one, and some where it has not.
if [ -n "$ns" ]; then
    full=$(ask t.db "
        WITH calls AS MATERIALIZED (SELECT end, row_number() OVER (ORDER BY start) AS number FROM api WHERE name = 'hipGraphLaunch'),
             both AS (SELECT end, 0 AS number, 1 AS kernel FROM kernels UNION ALL SELECT end, number, 0 FROM calls),
             walk AS (SELECT number, sum(kernel) OVER (ORDER BY end, kernel DESC ROWS UNBOUNDED PRECEDING) AS ended FROM both)
        SELECT sum(number * $nodes - ended > (SELECT size / 2 FROM queues JOIN kernels USING (process, queue) LIMIT 1))
        FROM walk WHERE number > 0")
    echo "the ring was more than half full when $full of $replays launches returned"
    # HIP 5.7 (ROCr 1.13) waits for its device before the ring is full.
    [ "$full" -gt 0 ] || [ "$rocr" = 13 ] || fail "the ring was never full"
fi
