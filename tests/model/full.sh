#!/usr/bin/env bash
# full.sh BUILD GENERATION: packets that find the hardware's queue full are kept, counted, and submitted when there is room.
source "$(dirname "$0")/lib.sh"
under "$1" "$lib/passthrough.so" "${find_leaks[@]}" "$bin/full_queue"
equal "output" "$(cat "$1.out")" "all packets are done in order"
equal "packets handed over" "$(counted packets)" 97
[ "$(counted overflow)" -gt 0 ] || fail "the overflow list was not used"
