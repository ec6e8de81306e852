#!/usr/bin/env bash
# full_ring.sh BUILD STORM_OPTIONS: the collector is stopped (SIGSTOP) while a storm goes through a ring of 1024 slots. The
# program does not notice and does not wait. What is in the trace is as the device executed it; the rest is lost because the ring
# was full, and for nothing else.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_DURATION=0
collector=
trap 'leave $? "$BASH_COMMAND"; [ -z "$collector" ] || kill -KILL "$collector" 2>/dev/null' EXIT

# until_it_is WHAT COMMAND...: within a minute.
until_it_is() {
    local what=$1 i
    shift
    for ((i = 0; i < 6000; i++)); do
        if "$@" >until.log; then return; fi
        kill -0 "$collector" 2>/dev/null || fail "rtl trace ended before $what"
        sleep 0.01
    done
    fail "not in a minute: $what"
}

# shellcheck disable=SC2016 # for the inner shell
wait_and_go='touch here; until [ -e go ]; do sleep 0.01; done; exec "$@"'
SOFTGPU_TRUTH=truth "$rtl" trace -q -m full --buffer 64K --gpu soft -o t.db -- \
    bash -c "$wait_and_go" bash "$bin/hsa_storm" "$@" >storm.out 2>storm.err &
collector=$!
until_it_is "the program has begun" [ -e here ]
kill -STOP "$collector"
touch go
until_it_is "the storm is over" grep -q 'all right$' storm.out
kill -CONT "$collector"
status=0
wait "$collector" || status=$?
collector=
equal "end of the storm" "$status" 0
nothing_said storm.err

executed=$("$build/bin/softgpu-run" --truth truth | grep -c '^kernel .*storm_') || true
status=0
"$rtl" check --json --truth truth t.db >check.out 2>check.err || status=$?
lost=$(jq .total.lost.ring check.out)
equal "status of rtl check" "$status" 1
equal "kernels seen" "$(jq .total.seen check.out)" "$executed"
equal "kernels recorded or lost for want of room" $(($(jq .total.recorded check.out) + lost)) "$executed"
equal "kernels in the trace" "$(ask t.db 'SELECT count(*) FROM kernels')" $((executed - lost))
[ "$lost" -gt 0 ] || fail "the ring was never full"
differences=$(jq '.truth | .missing + .invented + .repeated + .misaccounted_queues + .wrong_name + .wrong_ticks + .wrong_time' check.out)
equal "differences from the truth" "$differences" 0
