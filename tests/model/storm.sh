#!/usr/bin/env bash
# storm.sh BUILD GENERATION: dispatches in many patterns on intercept queues of the model, passed on as they came: the
# program sees no difference, every kernel runs once, calls follow each other without a gap, and what
# the generation says of their size holds.
source "$(dirname "$0")/lib.sh"
generation=$1
export SOFTGPU_DURATION=100

# storm OPTIONS
storm() {
    local dispatches=$2
    under "$generation" "$lib/passthrough.so" "${find_leaks[@]}" "$bin/hsa_storm" "$@"
    grep -q 'all right$' "$generation.out" || fail "hsa_storm $* saw a difference"
    equal "kernels executed of hsa_storm $*" "$(executed storm_)" "$dispatches"
    without_gap
}

# Calls of a queue: each begins where the one before ended.
without_gap() {
    sort -s -n -k1,1 calls | awk '{ if ($2 != next_of[$1] + 0) exit 1; next_of[$1] = $2 + $3 }' || fail "calls leave a gap"
}

# A queue that is never full keeps nothing back.
storm --dispatches 2000 --queue-size 16384
equal "overflows" "$(counted overflow)" 0
storm --dispatches 6000 --batch 48 --queues 3 --threads 3 --queue-size 16384 --signal-every 4 --counting-every 3 --barrier-every 7 \
    --bit-every 5
equal "overflows" "$(counted overflow)" 0
case $generation in
G1) equal "the most packets of a call" "$(counted largest)" 1 ;;
*) [ "$(counted largest)" -gt 1 ] || fail "no call had more than one packet" ;;
esac

# One that wraps many times and may be full. Of 256 packets none is too many for the staging buffer of G2.
[ "$generation" = UNSTAGED ] ||
    storm --dispatches 6000 --batch 32 --queues 2 --threads 4 --queue-size 256 --signal-every 4 --counting-every 3 --barrier-every 7
