#!/usr/bin/env bash
# strange.sh BUILD GENERATION: interceptors that do not just pass on: several calls of the writer, a change of what they
# were given, a doorbell within a callback.
source "$(dirname "$0")/lib.sh"

# strange MANNER PACKETS ALTERED
strange() {
    STRANGE=$1 under "$generation" "$lib/strange_tool.so" "${find_leaks[@]}" "$bin/wrap" 8
    equal "output with $1" "$(cat "$generation.out")" "8 packets across the end of the ring: each completed once"
    equal "packets handed over with $1" "$(counted packets)" "$2"
    equal "calls that changed their packets with $1" "$(counted altered)" "$3"
}

generation=$1
strange split 2052 0
# The one packet that is published again counts twice.
strange ring 2053 0
strange alter 2052 "$([ "$generation" = G1 ] && echo 2052 || echo 33)"
