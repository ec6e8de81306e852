#!/usr/bin/env bash
# opaque.sh BUILD WAY: packets that RTL cannot look into are counted. Within a replay they are the graph's, and the trace is not
# complete; outside nobody knows what is in them, which is said. The runtime's own barriers are neither.
source "$(dirname "$0")/lib.sh"
way=$1
export SOFTGPU_DURATION=1000 SOFTGPU_TRUTH=$scratch/truth

# record EXPECTED_CHECK OPTION...
record() {
    local expected=$1 status=0
    shift
    rm -f truth t.db
    "$rtl" trace -q --gpu soft -o t.db "$@" -- "$bin/opaque" "$way" >run.out 2>run.err ||
        fail "the program ended with status $?"
    nothing_said run.err
    kernels=$(sed -n 's/^kernels //p' run.out)
    "$rtl" check --truth truth t.db >check.out 2>check.err || status=$?
    equal "status of rtl check" "$status" "$expected"
    equal "kernels in the trace" "$(ask t.db 'SELECT count(*) FROM kernels')" "$kernels"
}

opaque() {
    ask t.db 'SELECT what, sum(packets), sum(of_graphs) FROM ledger_opaque GROUP BY what'
}

case $way in
graph)
    record 1
    equal "packets" "$(opaque)" "pm4|3|3"
    grep -q '^INCOMPLETE: 5 of 5 kernels, 3 packets of graphs without packets for their kernels$' check.out ||
        fail "the verdict does not tell of the graphs"
    grep -q 'what to do: set DEBUG_HIP_GRAPH_PM4=0 ' check.out || fail "rtl check does not name the setting"
    equal "launches" "$(ask t.db 'SELECT count(*), sum(unseen), sum(expected) FROM graph_launches')" "3|3|0"
    "$rtl" graph list t.db >list.out
    grep -q 'not whole .*: 3 launches: kernels of them were in packets that RTL cannot look into (see rtl check)$' list.out ||
        fail "rtl graph list does not tell why"
    # A mode that does not promise replays is none the less complete; what is in the packets is not known then.
    record 0 -m hip
    equal "packets in mode hip" "$(opaque)" "pm4|3|3"
    grep -q '^complete: 5 of 5 kernels, 3 packets whose content is not known$' check.out || fail "the verdict of mode hip"
    # Nor is anything lost that passes while recording is stopped.
    "$rtl" trace -q -f --gpu soft -o t.db --start-off -- "$bin/opaque" graph >run.out 2>run.err
    equal "packets while recording is stopped" "$(opaque)" ""
    status=0
    "$rtl" check t.db >check.out || status=$?
    equal "status of rtl check of a stopped recording" "$status" 3
    ;;
alone)
    record 0
    equal "packets" "$(opaque)" "pm4|3|0"
    grep -q '^complete: 5 of 5 kernels, 3 packets whose content is not known$' check.out || fail "the verdict is another"
    grep -q 'not known: what is in 3 packets of the vendor' check.out || fail "rtl check does not tell what is not known"
    ;;
barriers)
    record 0
    equal "packets" "$(opaque)" ""
    grep -q '^complete: 8 of 8 kernels$' check.out || fail "the verdict is another"
    ;;
esac
