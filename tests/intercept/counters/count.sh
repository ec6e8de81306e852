#!/usr/bin/env bash
# count.sh BUILD MODE WAY [N]: what hardware counters counted is what the program knows, kernel by kernel (MODE kernel) or range
# by range (MODE range), and no kernel is missing from the trace for it.
source "$(dirname "$0")/../../e2e/lib.sh"
skip_without_counters
mode=$1
shift
unset RTL_QUEUE
export COUNT_EXPECTED=$scratch/expected RTL_COUNTING=$mode RTL_METRICS=${METRICS:-SQ_WAVES}
"$rtl" trace -q --gpu soft --buffer 256M -o t.db -- "$bin/count" "$@" >traced.out 2>traced.err || fail "the program ended with status $?"
grep -v '^softgpu: kernel' traced.err >said || true
[ ! -s said ] || fail "something was printed on stderr"
"$rtl" check t.db >check.out 2>&1 || fail "rtl check ended with status $?"

# Two queues that could run at any time take turns.
if [ "$1" = fair ]; then
    longest=$(ask t.db "SELECT queue FROM kernels ORDER BY start" | uniq -c | sort -n | tail -1 | awk '{ print $1 }')
    [ "$longest" -le 10 ] || fail "$longest kernels of one queue came in a row"
fi
python3 "$here/../intercept/counters/count.py" "$rtl" t.db expected "$mode" >same.out 2>same.err || fail "other values than the program knows"
