#!/usr/bin/env bash
# session.sh BUILD WAY [RANGES]: a program that asks a session what its ranges cost gets what it knows and what the device executed;
# and a trace of the same program has the same ranges with the same work: all of them, whichever RTL_RANGES has the session tell of.
# RANGES_MANY is for `many`: 100000, where it is not set, are as many as anybody has asked for.
source "$(dirname "$0")/../../e2e/lib.sh"
way=$1
[ "$way" != counted ] || skip_without_counters
[ $# -lt 2 ] || export RTL_RANGES=$2
unset RTL_QUEUE
SOFTGPU_TRUTH=$scratch/truth RANGES_SESSION=1 RTL_BUFFER=256M LD_PRELOAD=$soft LD_LIBRARY_PATH=$build/lib \
    "$bin/ranges" "$way" >session.out 2>session.err || fail "the program ended with status $?"
nothing_said session.err

# trace NAME [VARIABLE=VALUE]: the same program, recorded.
trace() {
    local name=$1
    shift
    env "$@" RANGES_EXPECTED="$scratch/expected" SOFTGPU_TRUTH="$scratch/$name.truth" "$rtl" trace -q --gpu soft --buffer 256M -o "$name.db" -- \
        "$bin/ranges" "$way" >traced.out 2>traced.err || fail "the program ended with status $? under rtl trace ($name)"
    nothing_said traced.err "$name"
    # Packets of RTL's own, by which counters are read, have indices on the device as well.
    local truth=(--truth "$name.truth")
    [ "$way" != counted ] || truth=()
    "$rtl" check "${truth[@]}" "$name.db" >check.out 2>&1 || fail "rtl check ended with status $? ($name)"
    python3 "$here/../intercept/ranges/session.py" "$rtl" "$name.db" expected >same.out 2>same.err ||
        fail "rtl ranges does not say what the program knows ($name)"
}
trace alone

# With a session beside: both have all of it, and the same numbers.
[ "$way" = hang ] || trace beside RANGES_SESSION=1
