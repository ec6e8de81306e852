#!/usr/bin/env bash
# shortage.sh BUILD MOST STORM_OPTIONS: signals run short (RTL_POOL, or MEDDLER_SIGNALS: the runtime refuses to make more than so
# many). The program does not notice; what could not be given a signal is lost for that reason, and only that; MOST is how many
# kernels that may be at most, `all` if all are.
source "$(dirname "$0")/lib.sh"
most=$1
shift
export SOFTGPU_DURATION=${SOFTGPU_DURATION:-200000} SOFTGPU_TRUTH=$scratch/truth
[ -z "${MEDDLER_SIGNALS:-}" ] || export HSA_TOOLS_LIB=$build/tests/lib/meddler.so

"$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/hsa_storm" "$@" >storm.out 2>storm.err || fail "the storm ended with status $?"
grep -q 'all right$' storm.out || fail "the program saw a difference"
nothing_said storm.err
executed=$("$build/bin/softgpu-run" --truth truth | grep -c '^kernel .*storm_') || true

status=0
unset HSA_TOOLS_LIB
"$rtl" check --json --truth truth t.db >check.out 2>check.err || status=$?
lost=$(jq .total.lost.pool check.out)
equal "kernels seen" "$(jq .total.seen check.out)" "$executed"
equal "kernels recorded or lost for want of a signal" $(($(jq .total.recorded check.out) + lost)) "$executed"
differences=$(jq '.truth | .missing + .invented + .repeated + .misaccounted_queues + .wrong_name + .wrong_ticks + .wrong_time' check.out)
equal "differences from the truth" "$differences" 0
if [ "$most" = all ]; then
    equal "kernels lost" "$lost" "$executed"
else
    [ "$lost" -le "$most" ] || fail "$lost kernels were lost, at most $most may be"
fi
equal "status of rtl check" "$status" $((lost > 0))
"$rtl" check t.db >text.out || true
[ "$lost" -eq 0 ] || grep -q "lost.*(pool).*signal" text.out || fail "rtl check does not name the reason"
