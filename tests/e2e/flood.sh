#!/usr/bin/env bash
# flood.sh BUILD END: more ranges and marks than a small ring takes, from a program that ends in order (END is empty) or is killed
# (`kill`). Each that the program made is in the trace, or in its account with a reason; what was lost makes the trace
# incomplete, in text and JSON; kernels are not touched by it. Then the same with a ring that holds all, and, for an end in order, with
# a small one and a collector that is stopped most of the time: what waits in memory is waited for.
source "$(dirname "$0")/lib.sh"
end=${1:-}
export SOFTGPU_DURATION=0 LD_LIBRARY_PATH=$build/lib/roctx

# made WHAT: how many the program says that it made.
made() {
    sed -n "s/.*\<$1 \([0-9]*\).*/\1/p" run.out
}

# account KIND EXPRESSION: of the rows of a kind.
account() {
    ask t.db "SELECT $2 FROM ledger_kinds WHERE kind = '$1'"
}

# flooded RANGES [OPTION...]
flooded() {
    local ranges=$1 status=0
    shift
    "$rtl" trace -q -f -m full --gpu soft "$@" -o t.db -- "$bin/flood" "$ranges" $end >run.out 2>run.err || status=$?
    equal "status of the program" "$status" "$([ -z "$end" ] && echo 0 || echo 137)"
    nothing_said run.err
    status=0
    "$rtl" check t.db >check.out 2>&1 || status=$?
    "$rtl" check --json t.db >check.json 2>&1 || true
    verdict=$status
    for kind in ranges marks; do
        equal "$kind that are accounted for" "$(account $kind 'sum(seen) - sum(withheld)')" "$(made $kind)"
        equal "$kind recorded or lost" "$(account $kind 'sum(recorded) + sum(lost)')" "$(made $kind)"
        equal "$kind of the file" "$(account $kind 'sum(stored)')" "$(account $kind 'sum(recorded)')"
    done
    equal "batches that are accounted for" "$(account batches 'sum(seen)')" "$(made batches)"
    equal "ranges in the trace" "$(ask t.db "SELECT count(*) FROM ranges WHERE kind = 'push'")" "$(account ranges 'sum(stored)')"
    equal "ranges that a thread left out" "$(account ranges 'sum(withheld)')" "$(made withheld)"
    equal "kernels" "$(ask t.db "SELECT sum(seen) FROM ledger WHERE what = 'kernels'")" "$(made kernels)"
    equal "ranges of rtl check" "$(jq '.kinds.ranges.seen' check.json)" "$(account ranges 'sum(seen)')"
    grep -q '^ *1 .*ranges' check.out || fail "rtl check has no row for ranges"
    lost=$(account ranges 'sum(lost)')
}

flooded 400000 --buffer 64K
[ "$lost" -gt 0 ] || fail "nothing was lost: the flood is too small"
equal "status of rtl check" "$verdict" 1
equal "complete" "$(jq .complete check.json)" false
grep -q "^INCOMPLETE: .* ranges, .* lost (" check.out || fail "rtl check does not say that ranges were lost"
"$rtl" summary t.db | head -3 | grep -q "INCOMPLETE: .* ranges" || fail "rtl summary does not say it"

# A million in the usual ring, which has room for the kernels: the verdict is that of ranges and marks alone.
if [ -z "$end" ]; then
    flooded 1000000
    lost=$(ask t.db 'SELECT sum(lost) FROM ledger_kinds')
    equal "status of rtl check after a million" "$verdict" "$([ "$lost" = 0 ] && echo 0 || echo 1)"
fi

flooded 1000
equal "ranges that are lost" "$lost" 0
[ -n "$end" ] || equal "status of rtl check" "$verdict" 0
[ -z "$end" ] || exit 0

# hold_up: stops the collector again and again, until it has ended.
hold_up() {
    local collector
    until collector=$(pgrep -P $$ -x rtl); do sleep 0.01; done
    while kill -STOP "$collector" 2>/dev/null; do
        sleep 0.1
        kill -CONT "$collector" 2>/dev/null || break
        sleep 0.02
    done
}
hold_up &
RTL_EXIT_WAIT=60 flooded 40000 --buffer 64K
wait
equal "ranges that are lost" "$lost" 0
equal "status of rtl check" "$verdict" 0
