#!/usr/bin/env bash
# storm.sh BUILD MODE DURATION_NS STORM_OPTIONS: a storm of dispatches under `rtl trace`, compared kernel by
# kernel with what the device truly executed; lite and standard miss exactly what they say they miss.
source "$(dirname "$0")/lib.sh"
mode=$1
export SOFTGPU_DURATION=$2
shift 2
dispatches=0 batch=1 signals=0
for ((i = 1; i < $#; i++)); do
    next=$((i + 1))
    case ${!i} in
    --dispatches) dispatches=${!next} ;;
    --batch) batch=${!next} ;;
    esac
done

SOFTGPU_TRUTH=truth "$rtl" trace -q -m "$mode" --gpu soft -o t.db -- "${find_leaks[@]}" "$bin/hsa_storm" "$@" >storm.out 2>storm.err ||
    fail "the storm ended with status $?"
grep -q 'all right$' storm.out || fail "the program saw a difference"
signals=$(sed -n 's/.*own signals \([0-9]*\), counted \([0-9]*\):.*/\1 + \2/p' storm.out)

# What the mode is said to leave out, from what the program was asked to do alone.
case $mode in
full) skipped=0 ;;
standard) skipped=$((batch > 1 ? dispatches : 0)) ;;
lite) skipped=$((batch > 1 ? dispatches : signals)) ;;
esac

executed=$("$build/bin/softgpu-run" --truth truth | grep -c 'storm_') || true
equal "kernels that the device executed" "$executed" "$dispatches"
equal "kernels in the trace" "$(ask t.db 'SELECT count(*) FROM kernels')" $((dispatches - skipped))
equal "the way into the queues" "$(ask t.db 'SELECT DISTINCT way FROM queues')" "$way"
equal "kernels seen" "$(ask t.db 'SELECT sum(seen) FROM (SELECT DISTINCT process, queue, seen FROM ledger)')" "$dispatches"
"$rtl" check --truth truth t.db >check.out 2>check.err || fail "rtl check --truth ended with status $?"
