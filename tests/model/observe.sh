#!/usr/bin/env bash
# observe.sh BUILD: a tool that only looks sees the same calls on the installed runtime's intercept queues (one packet a
# call) and on the model's of that generation: the same queues, indexes and counts in the same order.
source "$(dirname "$0")/lib.sh"

[ "$intercept_generation" = G1 ] || { echo "the installed runtime's intercept queue is none of that generation: skipped" && exit 77; }

# same PROGRAM...: calls of several threads may come in any order, those of a queue may not.
same() {
    under real "$lib/passthrough.so" "$@"
    [ -s calls ] || fail "the tool saw nothing of '$*'"
    sort -s -n -k1,1 calls >wanted
    under G1 "$lib/passthrough.so" "$@"
    sort -s -n -k1,1 calls >got
    cmp -s wanted got || fail "'$*' made other calls: $(diff wanted got | head -n 4)"
    cmp -s real.out G1.out || fail "the output of '$*' differs"
    equal "packets of '$*' by the model's account" "$(counted packets)" "$(wc -l <got)"
}

export SOFTGPU_DURATION=100
same "$bin/wrap" 4
same "$bin/wrap" 600
# Queues that never fill: what a full one does is another test's.
same "$bin/hsa_storm" --dispatches 5000 --queue-size 16384 --signal-every 3
same "$bin/hsa_storm" --dispatches 6000 --batch 17 --queues 2 --threads 4 --queue-size 16384 --signal-every 5 --counting-every 3 \
    --barrier-every 11 --bit-every 13
