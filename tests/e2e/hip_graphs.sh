#!/usr/bin/env bash
# hip_graphs.sh BUILD PLUGIN SCENARIO...: graphs of HIP, alone and under `rtl trace` in full mode. The output is the same,
# and of each kernel that the device has executed the trace says what the program knows: the call that it came from,
# graph, generation, launch, node, the range of its launch and that of its capture.
source "$(dirname "$0")/lib.sh"
source "$here/hip_graphs_told.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth
shift
scenario=("$@")
# HIP 6.4 (ROCr 1.15) crashes by itself in many a run with graphs that have branches. hipGraphLaunch looks for streams that
# share no hardware queue with the stream that it launches on, and reads on behind the last if two do: hence few graphs, and
# a queue for each of their streams. One run in a hundred still ends with memory of the program that it never wrote to, alone
# and under RTL: hence another try after a crash there, and there only.
tries=1
if [ "$1" = random ] && [ "$rocr" = 15 ]; then
    scenario=(random 1 8)
    export GPU_MAX_HW_QUEUES=40
    tries=4
fi

# try COMMAND...: runs it, again after a crash if tries are left; its status is in `status`.
try() {
    local left
    for ((left = tries; left > 0; left--)); do
        rm -f truth t.db
        status=0
        "$@" || status=$?
        [ "$status" -ge 128 ] || break
    done
    return "$status"
}
alone() {
    LD_PRELOAD=$soft "$bin/hip_graphs" "${scenario[@]}" >alone.out 2>alone.err
}
traced() {
    "$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/hip_graphs" "${scenario[@]}" >traced.out 2>traced.err
}

try alone || fail "without RTL the program ended with status $status"
rm -f truth
export HIP_GRAPHS_EXPECTED=$scratch/expected
try traced || fail "the program ended with status $status"
cmp -s alone.out traced.out || fail "the program's output differs"
without_remarks alone.err traced.err
cmp -s alone.err traced.err || fail "the program's errors differ"
"$rtl" check --truth truth t.db >check.out 2>check.err || fail "rtl check --truth ended with status $?"

what_is_told >told
sort expected >known
[ -s known ] || fail "the program knows of no kernel"
if [ "${scenario[0]}" = random ]; then # much is alike: what the trace does not say for sure need not be right
    awk -F'|' 'NR == FNR { if ($9 != "?") sure[$1 "|" $2]; next } ($1 "|" $2) in sure' told known >known.sure
    grep -v '^\([^|]*|\)\{8\}?|' told >told.sure
    [ "$(wc -l <told.sure)" -gt $(($(wc -l <known) / 2)) ] || fail "hardly any kernel's node is certain"
    mv known.sure known
    mv told.sure told
    # HIP 5.7 (ROCr 1.13) lists a graph's nodes in another order each time that it is asked.
    [ "$rocr" != 13 ] || sed -i 's/|[0-9]*\(|[^|]*|[^|]*\)$/\1/' known told
fi
cmp -s known told || { diff known told >diff.out || true; fail "what the trace says of the kernels"; }

launches=$(sed -n 's/^\([0-9]*\) launches of .*/\1/p' traced.out)
graphs=$(sed -n 's/.* launches of \([0-9]*\) graphs.*/\1/p' traced.out)
copies=$(sed -n 's/.*, \([0-9]*\) copies$/\1/p' traced.out)
equal "launches" "$(ask t.db "SELECT count(*) FROM graph_launches")" "$launches"
equal "calls that launch" "$(ask t.db "SELECT count(*) FROM api
    WHERE name = 'hipGraphLaunch' AND result = 0")" "$launches"
equal "graphs" "$(ask t.db "SELECT count(DISTINCT graph) FROM graphs")" "$graphs"
equal "copies of graphs" "$(ask t.db "SELECT count(*) FROM copies c JOIN api a ON a.correlation = c.correlation
    WHERE a.name = 'hipGraphLaunch'")" "$copies"
equal "kernels that are not of the node that they name" "$(ask t.db "
    SELECT count(*) FROM kernels k JOIN graph_nodes n USING (graph, generation, node)
    WHERE n.type = 'kernel' AND (n.mangled <> k.mangled OR n.grid_x <> k.grid_x OR n.block_x <> k.block_x)")" 0
equal "kernels of a node that is not there" "$(ask t.db "
    SELECT count(*) FROM kernels k LEFT JOIN graph_nodes n USING (graph, generation, node)
    WHERE k.node IS NOT NULL AND n.type IS NULL")" 0
equal "nodes of no kernel with a grid" "$(ask t.db "
    SELECT count(*) FROM graph_nodes WHERE type <> 'kernel' AND grid_x IS NOT NULL")" 0
equal "kernels before their call" "$(ask t.db "
    SELECT count(*) FROM kernels k JOIN api a ON a.correlation = k.correlation WHERE k.start < a.start")" 0
equal "copies before their call" "$(ask t.db "
    SELECT count(*) FROM copies c JOIN api a ON a.correlation = c.correlation WHERE c.start < a.start")" 0
equal "kernels of no call" "$(ask t.db "SELECT count(*) FROM kernels WHERE correlation IS NULL")" 0
