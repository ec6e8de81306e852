#!/usr/bin/env bash
# hip.sh BUILD GENERATION PLUGIN PROGRAM [ARGUMENTS...]: a HIP program that checks its own data ends as it does without
# intercept queues.
source "$(dirname "$0")/lib.sh"
generation=$1
export SOFTGPU_PLUGINS=$2
shift 2
LD_PRELOAD=$soft "$@" >alone.out 2>alone.err || fail "$* alone ended with status $?"
under "$generation" "$lib/passthrough.so" "$@"
cmp -s alone.out "$generation.out" || fail "the program's output differs"
[ "$(counted packets)" -gt 0 ] || fail "nothing went through intercept queues"
