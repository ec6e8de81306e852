#!/usr/bin/env bash
# faults.sh BUILD WAY [REASON=COUNT...]: what `faults WAY` prints and how it ends is the same under `rtl trace`; the device
# executed the same kernels (where that is not chance); each is in the trace as it was executed, or lost for the reason and as often as said here (`REASON=some`: at least once). DIFFERENCES=1: `rtl check --truth` cannot know that a kernel that
# was lost for another reason than a shutdown never ran.
source "$(dirname "$0")/lib.sh"
way=$1
shift
export SOFTGPU_DURATION=${SOFTGPU_DURATION:-storm_endless=1000000000000,*=1000}

LD_PRELOAD=$soft SOFTGPU_TRUTH=$scratch/alone.truth "$bin/outcome" plain.end "$bin/faults" "$way" \
    >plain.out 2>plain.err
SOFTGPU_TRUTH=$scratch/truth "$bin/outcome" traced.end "$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/faults" "$way" \
    >traced.out 2>traced.err
equal "end of the program alone" "$(cat plain.end)" "exit 0"
equal "end of the program" "$(cat traced.end)" "exit 0"
cmp -s plain.out traced.out || fail "stdout differs from the run without RTL"
without_remarks plain.err traced.err
cmp -s plain.err traced.err || fail "stderr differs from the run without RTL"

status=0
"$rtl" check --json --truth truth t.db >check.out 2>check.err || status=$?
equal "status of rtl check" "$status" $(($# > 0))
differences=$(jq '.truth | .missing + .invented + .repeated + .misaccounted_queues + .wrong_name + .wrong_ticks + .wrong_time' check.out)
equal "differences from the truth" "$differences" "${DIFFERENCES:-0}"
executed=$("$build/bin/softgpu-run" --truth truth | grep -c '^kernel .*storm_') || true
for expected in "$@"; do
    lost=$(jq ".total.lost.${expected%=*}" check.out)
    case ${expected#*=} in
    some) [ "$lost" -gt 0 ] || fail "nothing was lost for the reason ${expected%=*}" ;;
    *) equal "lost, ${expected%=*}" "$lost" "${expected#*=}" ;;
    esac
done
case " $* " in
*=some*) ;;
*)
    equal "kernels executed" "$executed" "$("$build/bin/softgpu-run" --truth alone.truth | grep -c '^kernel .*storm_')"
    lost=0
    for expected in "$@"; do lost=$((lost + ${expected#*=})); done
    equal "kernels lost in all" "$(jq '[.total.lost[]] | add' check.out)" "$lost"
    ;;
esac
