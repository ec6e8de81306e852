#!/usr/bin/env bash
# exec_again.sh BUILD COUNT: a launcher that opens HIP and executes itself, COUNT times (exec_again.hip): all kernels of the
# last image are in the trace, each image is a process of its own, and none has died.
source "$(dirname "$0")/lib.sh"
count=$1
SOFTGPU_TRUTH=$scratch/truth-%p "$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/exec_again" "$count" >traced.out 2>traced.err || fail "the program ended with status $?"
equal "kernels" "$(ask t.db 'SELECT count(*) FROM kernels')" 1000
equal "images" "$(ask t.db "SELECT group_concat(state) FROM (SELECT state FROM processes ORDER BY process)")" \
    "$(for ((i = 0; i < count; i++)); do printf 'replaced,'; done)closed"
"$rtl" check --truth truth-* t.db >check.out 2>check.err || fail "rtl check ended with status $?"
grep -q '^complete: 1 000 of 1 000 kernels$' check.out || fail "the verdict is another one"
