#!/usr/bin/env bash
# absent.sh BUILD NODE CHROMIUM: the page and the report of a trace in which the mode left most kernels out show no idle
# times, and say why (absent.mjs).
source "$(dirname "$0")/../tools/lib.sh"
node=$2 chromium=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
unset "${!SOFTGPU_@}"
for mode in standard full; do
    SOFTGPU_PLUGINS=$build/tests/lib/e2e_plugin.so SOFTGPU_DURATION=20000 "$rtl" trace -q -m $mode --gpu soft -o $mode.db -- \
        "$build/tests/bin/hsa_storm" --dispatches 34 --batch 16 --threads 2 >traced.out 2>traced.err || fail "the program ended with status $?"
    "$rtl" export $mode.db --to html -o $mode-page.html >export.out || fail "rtl export ended with status $?"
    "$rtl" report $mode.db -o $mode-report.html >report.out || fail "rtl report ended with status $?"
done
# The program may keep the GPU busy from its first kernel to its last; then there is no row of idle times. What is idle within
# a launch of a graph is the graph's.
gaps=$("$rtl" sql full.db "SELECT count(*) FROM (SELECT start, graph, min(start) OVER (PARTITION BY graph, launch) AS begun,
    max(end) OVER (ORDER BY start ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last FROM kernels)
    WHERE start > last AND (graph IS NULL OR start = begun)")
"$node" "$here/absent.mjs" "$build/viewer" "$chromium" "$gaps" >page.out 2>page.err || fail "the pages are not as they should be"
