#!/usr/bin/env bash
# flood_launches.sh BUILD PLUGIN: a graph that is launched more often than a small ring takes: each launch, kernel and host call that the program made is in
# the trace, or in its account with a reason; what was lost makes the trace incomplete.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1
nodes=8 launches=20000
"$rtl" trace -q -m full --gpu soft --buffer 64K -o t.db -- "$bin/hip_graphs" storm $nodes $launches >run.out 2>run.err ||
    fail "the program ended with status $?"
status=0
"$rtl" check t.db >check.out 2>&1 || status=$?
lost() { # lost KIND
    ask t.db "SELECT coalesce(sum(lost), 0) FROM ledger_kinds WHERE kind = '$1'"
}
equal "kernels" "$(ask t.db "SELECT sum(seen) FROM (SELECT DISTINCT process, queue, seen FROM ledger WHERE what = 'kernels')")" $((nodes * launches))
equal "kernels in the trace, or lost" \
    "$(ask t.db "SELECT (SELECT count(*) FROM kernels) + (SELECT sum(lost) FROM ledger WHERE what = 'kernels')")" $((nodes * launches))
equal "launches" "$(ask t.db "SELECT sum(seen) FROM ledger_kinds WHERE kind = 'launches'")" $launches
equal "launches in the trace, or lost" $(($(ask t.db 'SELECT count(*) FROM graph_launches') + $(lost launches))) $launches
calls=$(ask t.db "SELECT count(*) FROM api WHERE name = 'hipGraphLaunch'")
[ "$calls" -le $launches ] && [ $((calls + $(lost calls))) -ge $launches ] || fail "$calls calls that launch, $(lost calls) calls are lost"
equal "calls in the trace, or lost" $(($(ask t.db 'SELECT count(*) FROM api') + $(lost calls))) \
    "$(ask t.db "SELECT sum(seen) FROM ledger_kinds WHERE kind = 'calls'")"
[ $((calls + $(ask t.db 'SELECT count(*) FROM kernels'))) -lt $((launches + nodes * launches)) ] || fail "nothing was lost: the flood is too small"
equal "status of rtl check" $status 1
