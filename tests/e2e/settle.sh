#!/usr/bin/env bash
# A recorder that has not ended yet when the program has: who looks at the trace then sees all of it, unless that is not wanted,
# or the recorder waits for more to come.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_DURATION=1000

mkfifo orders
LD_PRELOAD=$soft HSA_TOOLS_LIB=$build/lib/librtl.so RTL_MODE=full RTL_OUTPUT=$scratch/t.db "$bin/ctl" <orders >run.out 2>run.err &
program=$!
exec {to}>orders
echo 20 >&"$to"

# within_a_minute WHAT COMMAND...
within_a_minute() {
    local what=$1 i
    shift
    for ((i = 0; i < 600; i++)); do
        ! "$@" >within.log 2>&1 || return 0
        sleep 0.1
    done
    fail "not in a minute: $what"
}
has_begun() {
    [ -e t.db ] && [ "$(ask t.db 'SELECT count(*) FROM kernels')" = 20 ]
}
within_a_minute "kernels in the trace" has_begun
recorder=$(ask t.db "SELECT value FROM meta WHERE key = 'writer_pid'")
kill -STOP "$recorder"
exec {to}>&-
wait "$program"

status=0
"$rtl" check --no-wait t.db >early.log 2>&1 || status=$?
equal "status of rtl check --no-wait" "$status" 1
grep -q 'the recording goes on' early.log || fail "rtl check --no-wait does not say that the recording goes on"

"$rtl" check t.db >check.log 2>&1 &
check=$!
sleep 0.5
kill -CONT "$recorder"
status=0
wait "$check" || status=$?
equal "status of rtl check that waited for the recorder" "$status" 0
grep -q '^complete: 20 of 20 kernels' check.log || fail "the trace is not complete for rtl check"

# Here more may come: rtl trace waits for its program, which is no longer one that uses the GPU.
# shellcheck disable=SC2016 # for the inner shell
"$rtl" trace -q -m full --gpu soft -o more.db -- bash -c '"$@" <<<20; touch ended; sleep 4' bash "$bin/ctl" >more.out 2>more.err &
trace=$!
within_a_minute "the end of the part with a GPU" [ -e ended ]
status=0
"$rtl" check more.db >more.log 2>&1 || status=$?
equal "status of rtl check while rtl trace waits" "$status" 1
grep -q 'the recording goes on' more.log || fail "rtl check has waited for the end of rtl trace"
wait "$trace"
"$rtl" check more.db >check.log 2>&1 || fail "rtl check ended with status $? when rtl trace had ended"

# What all was left out of is not a trace of what was asked for.
status=0
RTL_START=off "$rtl" trace -q -m full --gpu soft -o off.db -- "$bin/ctl" <<<20 >off.out 2>off.err
"$rtl" check off.db >empty.log 2>&1 || status=$?
equal "status of rtl check where recording was stopped all the time" "$status" 3
grep -q '^EMPTY: 0 of 20 kernels, 20 left out while recording was stopped' empty.log || fail "rtl check does not say EMPTY"
equal "what JSON says" "$("$rtl" check --json off.db | jq -c '[.complete, .empty]')" "[true,true]"
equal "what JSON says of the other" "$("$rtl" check --json t.db | jq -c '[.complete, .empty]')" "[true,false]"
