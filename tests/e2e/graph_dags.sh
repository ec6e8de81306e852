#!/usr/bin/env bash
# graph_dags.sh BUILD PLUGIN FIRST COUNT REPLAYS LONGEST LEAST: graphs of HIP that fork and join, launched where nothing is seen
# of HIP but its packets (RTL_PRELOAD=off). What the trace calls a launch has kernels of one replay alone, each at its node;
# says how many launches are there whole: LEAST or more on HIP 7.2. HIP 5.2 submits each kernel as it does eager ones, and
# nothing is known.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth HIP_GRAPHS_EXPECTED=$scratch/expected RTL_PRELOAD=off
count=$3 replays=$4 least=$6
[ "$rocr" -ge 18 ] || least=0

"$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/hip_graphs" dags "$2" "$count" "$replays" "$5" >program.out 2>program.err ||
    fail "the program ended with status $?"
"$rtl" check --truth truth t.db >check.out 2>check.err || fail "rtl check --truth ended with status $?"
ask t.db "SELECT q.hsa_id, k.packet, coalesce(k.graph || ' ' || k.generation || ' ' || k.launch || ' ' || k.node, '-'), k.certain
          FROM kernels k JOIN main.queues q USING (process, queue)" >told
awk -F'|' -v all="$((count * replays))" -v least="$least" '
    function wrong(what) { if (++wrongs <= 5) print what }
    NR == FNR {
        replay[$1, $2] = $6 == "" ? "-" : $6 " " $8
        node[$1, $2] = $6 " " $9
        if ($6 != "") kernels[replay[$1, $2]]++
        next
    }
    !(($1, $2) in replay) || $3 == "-" { next }
    {
        split($3, part, " ")
        launch = part[1] " " part[3]
        place = part[1] " " part[2] " " part[4]
        want = replay[$1, $2]
        if (want == "-") wrong("an eager kernel is in launch " launch)
        else if (launch in of && of[launch] != want) wrong("launch " launch " is of " of[launch] " and " want)
        if ($4 == 1 && place in is && is[place] != node[$1, $2]) wrong("node " place " is " is[place] " and " node[$1, $2])
        of[launch] = want
        is[place] = node[$1, $2]
        if (!((launch, place) in seen)) found[launch]++
        seen[launch, place]
    }
    END {
        for (launch in found) if (found[launch] == kernels[of[launch]]) whole++
        print whole + 0 " of " all " launches are whole"
        if (whole < least) wrong("that is less than " least)
        exit wrongs > 0
    }' expected told >whole.out || fail "launches are not what they are said to be"
cat whole.out
