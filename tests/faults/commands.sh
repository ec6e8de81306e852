#!/usr/bin/env bash
# commands.sh BUILD: every command that reads a trace, with a call for memory failing here and there: it does what it does
# otherwise, or says one thing and fails; it does not crash.
source "$(dirname "$0")/../e2e/lib.sh"
"$rtl" trace -q --gpu soft -o t.db -- "$bin/hsa_storm" --dispatches 2000 --threads 2 --queues 2 >storm.out

shim() {
    env LD_PRELOAD="$build/tests/lib/libfaults.so" FAULTS_PROGRAM=/bin/rtl FAULTS_KIND=memory FAULTS_CALLS="$calls_in_a_row" "$@"
}

# starved COMMAND...: 2 × 15 places from the first call to the last.
starved() {
    local calls at status wrong=0
    calls_in_a_row=1 shim FAULTS_AT=0 FAULTS_COUNT="$scratch/count" "$rtl" "$@" >whole.out 2>whole.err ||
        fail "rtl $*: ended with status $?"
    calls=$(cat count)
    for calls_in_a_row in 1 1000000000; do
        for at in $(seq 1 $((calls / 15 + 1)) "$calls"); do
            status=0
            shim FAULTS_AT="$at" "$rtl" "$@" >starved.out 2>starved.err || status=$?
            [ "$status" -lt 126 ] || fail "rtl $*: died with status $status when call $at of $calls for memory failed"
            if [ "$status" -ne 0 ]; then
                wrong=$((wrong + 1))
                [ -s starved.err ] || fail "rtl $*: said nothing when call $at of $calls for memory failed"
            else
                cmp -s starved.out whole.out || fail "rtl $*: other output when call $at of $calls for memory failed"
            fi
        done
    done
    [ "$wrong" -gt 0 ] || fail "rtl $*: memory was never short"
}

starved info t.db
starved info --json t.db
starved summary t.db
starved summary --json t.db
starved check t.db
starved check --json t.db
starved sql t.db 'SELECT name, count(*) FROM kernels GROUP BY 1'
starved export t.db -F csv --table kernels -o -
starved export t.db -F chrome -o -
starved export t.db -F perfetto -o -
