#!/usr/bin/env bash
# hip_graphs_undirected.sh BUILD PLUGIN SCENARIO: with AMD_DIRECT_DISPATCH=0 threads of HIP's own submit what the program
# launches, at some time after its call. Kernels then belong to no call, launch or range: never to a wrong one. From 6 on the
# program's thread submits the replays of graphs all the same.
source "$(dirname "$0")/lib.sh"
source "$here/hip_graphs_told.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth AMD_DIRECT_DISPATCH=0
scenario=$2

LD_PRELOAD=$soft "$bin/hip_graphs" "$scenario" >alone.out 2>alone.err ||
    fail "without RTL the program ended with status $?"
rm -f truth
HIP_GRAPHS_EXPECTED=$scratch/expected "$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/hip_graphs" "$scenario" >traced.out 2>traced.err ||
    fail "the program ended with status $?"
cmp -s alone.out traced.out || fail "the program's output differs"
without_remarks alone.err traced.err
cmp -s alone.err traced.err || fail "the program's errors differ"
"$rtl" check --truth truth t.db >check.out 2>check.err || fail "rtl check --truth ended with status $?"
launches=$(sed -n 's/^\([0-9]*\) launches of .*/\1/p' traced.out)
[ "$(ask t.db "SELECT count(*) FROM kernels")" -gt "$launches" ] || fail "there are no kernels"
nowhere="coalesce(k.correlation, k.graph, k.generation, k.launch, k.node, k.range, k.capture_range) IS NULL"
if [ "$rocr" -lt 15 ]; then
    equal "kernels that are said to come from somewhere" "$(ask t.db "SELECT count(*) FROM kernels k WHERE NOT ($nowhere)")" 0
    equal "launches, without a kernel" \
        "$(ask t.db "SELECT count(*), sum(kernels), sum(expected) FROM graph_launches")" "$launches|0|0"
else
    ask t.db "SELECT q.hsa_id, k.packet FROM kernels k JOIN queues q USING (queue) WHERE $nowhere" >unsaid
    what_is_told | awk -F'|' 'NR == FNR { unsaid[$0]; next } !(($1 "|" $2) in unsaid)' unsaid - >said
    sort expected >known
    [ -s said ] || fail "no kernel is said to come from anywhere"
    equal "kernels that are said to come from elsewhere" "$(comm -23 said known | wc -l)" 0
fi
