#!/usr/bin/env bash
# graph_shapes.sh BUILD SHAPE REPLAYS DURATION_NS GRAPHS [UNKNOWN]: replays as HIP submits them in ROCm 7, with no help from
# HIP. Each kernel's graph, launch and node in the trace is compared with what the program knows, and what the
# program knows with what the device executed. GRAPHS: how many rows `graphs` has. UNKNOWN: how many kernels of replays
# may be in no graph (0 when absent): a packet that is reserved alone behind the others is known from the second time on.
source "$(dirname "$0")/lib.sh"
shape=$1 replays=$2 graphs=$4 unknown=${5:-0}
export SOFTGPU_DURATION=$3

SOFTGPU_TRUTH=truth "$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/graph_shapes" "$shape" "$replays" lines >program.out 2>program.err ||
    fail "the program ended with status $?"
grep -q 'all right$' program.out || fail "the program saw a difference"
"$rtl" check --truth truth t.db >check.out 2>check.err || fail "rtl check --truth ended with status $?"

# The program's lines are what the device executed: the same packets with the same kernargs.
"$build/bin/softgpu-run" --truth truth | awk '$1 == "kernel" || /storm_/' >executed
equal "kernels that the device executed" "$(grep -c storm_ executed)" "$(wc -l <lines)"

# A graph of the trace is one of the program's, and the other way round; launches are replays.
ask t.db "SELECT q.address, k.packet, coalesce(k.graph, '-'), coalesce(k.launch, '-'), coalesce(k.node, '-'),
                 coalesce(k.certain, '-'), coalesce(k.generation, '-')
            FROM kernels k JOIN main.queues q USING(process, queue)" | tr '|' ' ' >got
awk -v unknown="$unknown" '
    NR == FNR { want[$1 " " $2] = $4 " " $5 " " $6; next }
    {
        key = $1 " " $2
        split(want[key], w, " ")
        if (w[1] == "-") {
            if ($3 != "-") wrong("eager kernel in graph " $3)
        } else if ($3 == "-" && unknown > 0) {
            unknown--
        } else {
            if (!(w[1] in of)) of[w[1]] = $3
            if ($3 == "-" || of[w[1]] != $3) wrong("graph " $3 " of " w[1])
            if ($4 != w[2]) wrong("launch " $4 " of " w[2])
            if ($5 != w[3]) wrong("node " $5 " of " w[3])
            if ($6 != 1) wrong("not certain")
        }
        delete want[key]
    }
    function wrong(what) { if (count++ < 5) print key ": " what }
    END {
        for (a in of) for (b in of) if (a != b && of[a] == of[b]) wrong("graphs " a " and " b " are one")
        for (key in want) wrong("is not in the trace")
        exit count > 0
    }' lines got >wrong.out || fail "kernels are not what they are said to be"
equal "graphs" "$(ask t.db 'SELECT count(*) FROM graphs')" "$graphs"
equal "launches with kernels missing" "$(ask t.db 'SELECT count(*) FROM graph_launches WHERE kernels <> expected')" 0
