#!/usr/bin/env bash
# begun_before.sh BUILD PLUGIN: recording is started while hipGraphLaunch submits. What is recorded of that replay belongs to its launch, as
# the kernels of any other; what came before the start is left out.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth
# Where the machine is busy every start may come before the first kernel, or behind the last one.
for ((try = 0; try < 8; try++)); do
    rm -f truth
    "$rtl" trace -q -m full --gpu soft --start-off -f -o t.db -- "$bin/begun_before" 10 300 >run.out 2>run.err || fail "the program ended with status $?"
    nothing_said run.err
    kernels=$(sed -n 's/^kernels //p' run.out)
    "$rtl" check --truth truth t.db >check.out 2>check.err || fail "status $? of rtl check"
    recorded=$(ask t.db 'SELECT count(*) FROM kernels')
    equal "kernels recorded and left out" $((recorded + $(ask t.db 'SELECT sum(stopped) FROM ledger_left_out WHERE queue IS NOT NULL'))) "$kernels"
    equal "kernels without a launch, a node or a call" "$(ask t.db 'SELECT count(*) FROM kernels WHERE launch IS NULL OR node IS NULL OR
        correlation NOT IN (SELECT correlation FROM api)')" 0
    # Where HIP submits barriers too, what is left of a launch has them before it or behind it: which nodes these are is not certain then.
    equal "launches of which the recorded kernels are not the last ones" "$(ask t.db 'SELECT count(*) FROM (SELECT max(node) AS last,
        max(node) - min(node) + 1 AS nodes, count(*) AS kernels FROM kernels WHERE certain GROUP BY launch) WHERE last != 399 OR kernels != nodes')" 0
    partial=$(ask t.db 'SELECT count(*) FROM (SELECT count(*) AS kernels FROM kernels GROUP BY launch) WHERE kernels < 400')
    # HIP 7.2 submits a launch in a few microseconds, with few doorbells.
    [ "$rocr" -lt 18 ] || exit 0
    [ "$partial" = 0 ] || break
done
[ "$partial" -gt 0 ] || fail "recording was never started between two kernels of a launch"
"$rtl" graph list t.db >list.out 2>list.err || fail "status $? of rtl graph list"
grep -q ': kernels of .* were left out while recording was stopped' list.out || fail "rtl graph list does not say why launches are not whole"
