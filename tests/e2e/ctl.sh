#!/usr/bin/env bash
# ctl.sh BUILD WAY: recording is started and stopped from outside, and by time. What runs while it is stopped is
# counted as left out; what runs while it is on is in the trace.
source "$(dirname "$0")/lib.sh"
way=$1
export SOFTGPU_DURATION=1000 SOFTGPU_TRUTH=$scratch/truth-%p

# begin [OPTIONS]: starts the program under rtl trace; $session and $pid are its own.
begin() {
    rm -f t.db truth-*
    coproc program { exec "$rtl" trace -q -m full --gpu soft -o t.db "$@" -- "$bin/ctl" 2>run.err; }
    answer ready
    # shellcheck disable=SC2154 # coproc sets it
    pid=$(ps -o pid= --ppid "$program_PID" | tr -d ' ')
    session=$("$rtl" ctl status --json | jq -r --argjson pid "$pid" '.[] | select(.pid == $pid) | .session')
    [ -d "$session" ] || fail "rtl ctl status does not list process $pid"
}

# answer TEXT: the program's next line.
answer() {
    local line
    read -r -t 60 line <&"${program[0]}" || fail "the program said nothing"
    equal "what the program said" "$line" "$1"
}

# run COUNT: the program runs kernels, and is done with them.
run() {
    echo "$1" >&"${program[1]}"
    answer "ran $1"
}

# child COUNT: another process that it starts does so.
child() {
    echo "child $1" >&"${program[1]}"
    answer "ran $1"
}

# again: the program executes itself.
again() {
    echo again >&"${program[1]}"
    answer ready
}

# state: what rtl ctl status tells of the program.
state() {
    "$rtl" ctl status -p "$pid" --json | jq -r '.[0].state'
}

# until_state STATE: runs kernels one by one until status tells it; $ran is how many. No time is too short or too long.
until_state() {
    ran=0
    while [ "$(state)" != "$1" ]; do
        run 1
        ran=$((ran + 1))
    done
}

# end RECORDED SKIPPED: the program ends; its trace has so many kernels, and so many were left out.
end() {
    local input=${program[1]} status=0
    exec {input}>&-
    wait "$program_PID" || status=$?
    equal "status of the program" "$status" 0
    nothing_said run.err
    "$rtl" check t.db --truth truth-* >check.out 2>&1 || fail "rtl check ended with status $?"
    equal "kernels in the trace" "$(ask t.db 'SELECT count(*) FROM kernels')" "$1"
    equal "kernels left out" "$(ask t.db 'SELECT sum(skipped) FROM (SELECT DISTINCT queue, skipped FROM ledger)')" "$2"
    equal "kernels left out because recording was stopped" "$(ask t.db 'SELECT sum(stopped) FROM ledger')" "$2"
    equal "the same of rtl check" "$(told_of --json t.db | jq .total.stopped)" "$2"
    ! grep -q -e '-m full' check.out || fail "rtl check advises the mode that was used"
    [ "$2" = 0 ] || grep -q 'left out while recording was stopped' check.out || fail "rtl check does not say why"
    [ "$2" = 0 ] || [ "$1" = 0 ] || grep -q '^complete for what was to be recorded: ' check.out || fail "rtl check does not say that nothing else is left out"
    [ "$2" != 0 ] || grep -q '^complete: ' check.out || fail "rtl check speaks of what was not to be recorded"
}

# told_of ARGUMENTS...: what rtl check says, also where all kernels were left out: on a busy machine that may be so.
told_of() {
    "$rtl" check "$@" || [ $? = 3 ]
}

# notes: what the trace says about recording, in order.
notes() {
    ask t.db "SELECT text FROM notes WHERE text LIKE 'recording was %' ORDER BY time"
}

# pauses WANTED [IN_FLIGHT]: who stopped recording, in order, with a dot if it went on. Each lasts, and they come one after the
# other; what is in the trace ran in none of them, but for so many that were submitted as one began or ended; `rtl check` and
# `rtl info` tell the same.
pauses() {
    local count wrong ran
    equal "pauses" "$(ask t.db "SELECT why || CASE WHEN end IS NULL THEN '' ELSE '.' END FROM pauses ORDER BY start" |
        paste -sd+)" "$1"
    wrong=$(ask t.db "SELECT count(*) FROM pauses a LEFT JOIN pauses b ON b.start > a.start
        WHERE a.end <= a.start OR a.end > b.start OR (a.end IS NULL AND b.start IS NOT NULL)")
    equal "pauses that overlap" "$wrong" 0
    ran=$(ask t.db "SELECT count(*) FROM kernels k JOIN pauses p
        ON k.start > p.start AND k.end < coalesce(p.end, 9223372036854775807)")
    [ "$ran" -le "${2:-0}" ] || fail "$ran kernels of the trace ran while recording was stopped"
    count=$(ask t.db "SELECT count(*) FROM pauses")
    told_of t.db | grep -q "recording was stopped $count time" || fail "rtl check does not tell the pauses"
    equal "pauses of rtl check" "$(told_of --json t.db | jq '.pauses | length')" "$count"
    equal "pauses of rtl info" "$("$rtl" info --json t.db | jq '.pauses | length')" "$count"
}

# refused STATUS PATTERN COMMAND...: ends so, with one sentence that matches.
refused() {
    local wanted=$1 pattern=$2 status=0
    shift 2
    "$@" >refused.out 2>refused.err || status=$?
    equal "status of '${*:2}'" "$status" "$wanted"
    equal "lines of '${*:2}'" "$(wc -l <refused.err)" 1
    grep -q -E -e "$pattern" refused.err || fail "'${*:2}' does not say '$pattern'"
}

case $way in
outside)
    begin
    equal "state" "$(state)" recording
    run 10
    # What was so is told; what changes is not.
    "$rtl" ctl stop "$pid" 2>ctl.err || fail "rtl ctl stop PID"
    nothing_said ctl.err
    equal "state" "$(state)" stopped
    run 50
    # The pid of rtl trace, as a shell knows it, is that of all it records.
    "$rtl" ctl stop "$program_PID" 2>ctl.err || fail "rtl ctl stop PID of rtl trace"
    equal "what a second stop says" "$(cat ctl.err)" "rtl: process $pid is stopped already"
    equal "status of rtl trace" "$("$rtl" ctl status "$program_PID" --json | jq -r '.[].pid')" "$pid"
    equal "status of it in its session" "$("$rtl" ctl status -p "$program_PID" "$session" --json | jq -r '.[].pid')" "$pid"
    run 50
    "$rtl" ctl start "$program_PID" 2>ctl.err || fail "rtl ctl start PID of rtl trace"
    nothing_said ctl.err
    equal "state" "$(state)" recording
    run 20
    "$rtl" ctl start -p "$pid" "$session" 2>ctl.err || fail "rtl ctl start for one that records"
    equal "what a second start says" "$(cat ctl.err)" "rtl: process $pid is recording already"
    refused 2 "'1s' is a time, and comes first: rtl ctl record 1s $pid" "$rtl" ctl record "$pid" 1s
    refused 2 "'1s' .* rtl ctl record 1s, or rtl ctl start --duration 1s" "$rtl" ctl start 1s
    refused 1 "process 10 is not .* the time comes first: rtl ctl record TIME PID" "$rtl" ctl record "$pid" 10
    refused 2 "$pid is the pid of a process .* the time is missing: rtl ctl record TIME $pid " "$rtl" ctl record "$pid"
    "$rtl" ctl start "$session" "$pid" || fail "rtl ctl start SESSION PID"
    equal "status of PID" "$("$rtl" ctl status "$pid" --json | jq -r '.[0].pid')" "$pid"
    equal "what status counts" "$("$rtl" ctl status "$session" --json | jq -r '.[0] | "\(.seen) \(.skipped) \(.lost)"')" "130 100 0"
    "$rtl" ctl status "$session" | grep -q -E "^ *$pid +recording +130 " || { "$rtl" ctl status >ctl.out; fail "rtl ctl status shows something else"; }
    "$rtl" ctl stop "$session"
    run 3
    program_was=$program_PID
    end 30 103
    equal "notes" "$(notes | paste -sd+)" "recording was stopped by rtl ctl+recording was started by rtl ctl+recording was stopped by rtl ctl"
    pauses "ctl.+ctl"
    refused 1 "process $pid is not being recorded" "$rtl" ctl stop -p "$pid"
    refused 1 "process $pid is not being recorded" "$rtl" ctl stop "$pid"
    refused 1 "process $program_was is not being recorded" "$rtl" ctl stop "$program_was"
    refused 2 "no session at $session" "$rtl" ctl stop "$session"
    refused 2 "halt" "$rtl" ctl halt
    refused 2 "start\|stop\|status" "$rtl" ctl
    refused 2 "0x" "$rtl" ctl stop -p 0x
    refused 2 "one session at a time: 'b' is a second one" "$rtl" ctl stop a b
    refused 2 "one process at a time: '12' is a second one" "$rtl" ctl stop -p 4711 12
    refused 2 "one process at a time: '12' is a second one" "$rtl" ctl stop -p 4711 -p 12
    refused 2 "--json is for status" "$rtl" ctl start -j
    refused 2 "--duration is for start" "$rtl" ctl stop -d 1s
    refused 2 "--steps is for start" "$rtl" ctl stop -s 3
    refused 2 "--steps is 1 at least" "$rtl" ctl start -s 0
    refused 2 "'many'" "$rtl" ctl start --steps many
    refused 2 "'0' is no time for --duration" "$rtl" ctl start -d 0
    refused 2 "'soon' is no time for --duration" "$rtl" ctl start --duration soon
    refused 2 "one process at a time: '12' is a second one" "$rtl" ctl stop 4711 12
    refused 2 "'99999999999' is no process id" "$rtl" ctl stop 99999999999
    mkdir 4711
    refused 2 "no session at ./4711" "$rtl" ctl stop ./4711
    ;;
killed)
    # Nothing is in flight, and all is in the trace: the verdict says that nothing is unaccounted for, not only that it is complete.
    begin
    run 10
    until [ "$(ask t.db 'SELECT count(*) FROM kernels')" = 10 ]; do sleep 0.02; done
    kill -KILL "$pid"
    wait "$program_PID" 2>/dev/null || true
    "$rtl" check --truth "$scratch/truth-$pid" t.db >check.out 2>&1 || fail "rtl check ended with status $?"
    grep -q '^complete: 10 of 10 kernels; 1 of 1 processes ended without telling: none of its packets that RTL saw is unaccounted for' check.out ||
        fail "the verdict does not say what is unaccounted for"
    # One that never ends is.
    SOFTGPU_DURATION='storm_first=1000000000000,*=1000'
    begin
    echo 10 >&"${program[1]}"
    until [ "$("$rtl" ctl status -p "$pid" --json | jq '.[0].seen')" -gt 0 ]; do sleep 0.02; done
    kill -KILL "$pid"
    wait "$program_PID" 2>/dev/null || true
    ! "$rtl" check t.db >check.out 2>&1 || fail "a kernel in flight is complete"
    grep -q '^INCOMPLETE: .*1 of 1 processes ended without telling: at most [0-9]* of its packets' check.out ||
        fail "the verdict does not say how many are unaccounted for"
    # What is in flight is not lost while the recording goes on. It is when the process has been killed.
    SOFTGPU_DURATION='storm_endless=1000000000000,*=1000'
    begin
    run 10
    echo "endless 7" >&"${program[1]}"
    answer "begun 7"
    until [ "$("$rtl" check --json t.db | jq .total.pending)" = 7 ]; do sleep 0.05; done
    "$rtl" idle t.db >idle.out
    grep -q '7 kernels are not in the trace (not stored yet)' idle.out || fail "kernels in flight: $(cat idle.out)"
    kill -KILL "$pid"
    wait "$program_PID" 2>/dev/null || true
    "$rtl" idle t.db >idle.out
    grep -q '7 kernels are not in the trace (lost)' idle.out || fail "kernels that were killed: $(cat idle.out)"
    ;;
held)
    # The collector is held up, the ring is full, and the process is killed: what was done and waited for room is lost for that
    # reason, and only what still ran was in flight.
    SOFTGPU_DURATION='storm_endless=1000000000000,*=1000'
    begin --buffer 64K
    run 1
    kill -STOP "$program_PID"
    run 20000
    for _ in {1..10}; do run 100; done # in the ring, as long as that has any room, and then beside it
    echo "endless 7" >&"${program[1]}"
    answer "begun 7"
    for ((i = 0; i < 6000; i++)); do
        "$bin/ring_state" "$session/ring.$pid.0" >state.out
        [ "$(jq .running state.out)" != 7 ] || break
        sleep 0.01
    done
    equal "kernels that still run" "$(jq .running state.out)" 7
    [ "$(jq .held state.out)" -gt 0 ] || fail "nothing waits for room"
    kill -KILL "$pid"
    kill -CONT "$program_PID"
    wait "$program_PID" 2>/dev/null || true
    "$rtl" check --json t.db >check.out && fail "what is lost is complete"
    equal "kernels that were seen" "$(jq .total.seen check.out)" 21008
    equal "kernels that were in flight" "$(jq .total.lost.killed check.out)" 7
    equal "kernels that are there, or lost for want of room" $(($(jq .total.recorded check.out) + $(jq .total.lost.ring check.out))) 21001
    equal "kernels in the trace" "$(ask t.db 'SELECT count(*) FROM kernels')" "$(jq .total.recorded check.out)"
    ;;
orphan)
    # The recorder is killed: nobody reads what the program records, and the program does not mind.
    begin
    run 10
    exec {input}>&"${program[1]}" {output}<&"${program[0]}" # the shell closes its own with the recorder
    kill -KILL "$program_PID"
    wait "$program_PID" 2>/dev/null || true
    program=("$output" "$input")
    equal "state" "$(state)" "not collected"
    equal "collected" "$("$rtl" ctl status "$session" --json | jq '.[0].collected')" false
    "$rtl" ctl status | grep -q -E "^ *$pid +not collected +10 " || { "$rtl" ctl status >ctl.out; fail "rtl ctl status shows something else"; }
    refused 1 "process $pid is not collected" "$rtl" ctl start -p "$pid"
    run 10
    "$rtl" ctl stop -p "$pid" || fail "rtl ctl stop of one that is not collected"
    run 10
    equal "what is left out" "$("$rtl" ctl status "$session" --json | jq -r '.[0] | "\(.seen) \(.skipped)"')" "30 10"
    exec {input}>&- {output}<&-
    while [ -n "$(state 2>/dev/null)" ]; do sleep 0.02; done # nobody may be there to wait for it
    # A collector that librtl has started.
    coproc program { LD_PRELOAD=$soft HSA_TOOLS_LIB=$build/lib/librtl.so RTL_MODE=full RTL_OUTPUT=own.db exec "$bin/ctl"; }
    answer ready
    pid=$program_PID
    run 10
    equal "state" "$(state)" recording
    collector=$(pgrep -f -- "collect --session .* --pid $pid ")
    kill -KILL "$collector"
    while [ "$(state)" = recording ]; do sleep 0.02; done
    equal "state" "$(state)" "not collected"
    input=${program[1]}
    exec {input}>&-
    wait "$pid" || fail "the program did not end well"
    ;;
off)
    # A recorder whose program has no GPU runtime yet, or never.
    "$rtl" trace -q --gpu soft -o none.db -- sleep 1000 &
    recorder=$!
    for ((i = 0; i < 6000; i++)); do
        ! "$rtl" ctl start $recorder 2>ctl.err || fail "a program without a GPU runtime is started"
        ! grep -q 'no process of session .*: none has started a GPU runtime yet' ctl.err || break
        sleep 0.01
    done
    [ $i -lt 6000 ] || fail "nobody says that no GPU runtime is there yet"
    kill $recorder
    wait $recorder || true
    # Before the first queue there is nobody who takes the request; it is taken before the first kernel.
    begin --start-off
    equal "state" "$(state)" stopped
    "$rtl" ctl start "$session" 2>ctl.err || fail "rtl ctl start"
    grep -q "process $pid has no queue yet" ctl.err || fail "rtl ctl does not say that it cannot be done yet"
    run 50
    end 50 0
    pauses "start-off."
    ;;
later)
    # What was said of the session holds for images and processes that begin later in it; what was said of a process, for its
    # next images.
    begin
    run 10
    "$rtl" ctl stop "$session"
    run 5
    again
    equal "state" "$(state)" stopped
    run 7
    child 3
    "$rtl" ctl start "$session"
    run 4
    again
    run 1
    child 6
    "$rtl" ctl stop -p "$pid"
    again
    run 2
    child 8
    end 29 17
    equal "pauses, all by rtl ctl" "$(ask t.db "SELECT count(*) FROM pauses WHERE why = 'ctl'")" 5
    begin --start-off
    "$rtl" ctl start "$program_PID" 2>ctl.err
    run 5
    again
    run 6
    child 7
    end 18 0
    # RTL_DELAY of a later image is called off as well.
    begin --delay 1h
    run 3
    "$rtl" ctl start "$session"
    again
    run 4
    end 4 3
    ;;
delay)
    begin --delay 1h
    run 10
    "$rtl" ctl start "$session"
    run 5
    end 5 10
    equal "notes" "$(notes | paste -sd+)" "recording was stopped until RTL_DELAY is over+recording was started by rtl ctl"
    pauses "delay."
    begin --delay 0.2
    until_state recording
    run 40
    recorded=$("$rtl" ctl status "$session" --json | jq '.[0] | .seen - .skipped')
    [ "$recorded" -ge 40 ] || fail "only $recorded of the last 40 kernels are recorded"
    end "$recorded" $((ran + 40 - recorded))
    equal "notes" "$(notes | tail -1)" "recording was started: RTL_DELAY is over"
    # The program runs them one by one: one may have run before somebody looked at the clock.
    pauses "delay." 1
    ;;
duration)
    begin --duration 1h
    run 10
    end 10 0
    begin --duration 300ms
    until_state stopped
    run 40
    skipped=$("$rtl" ctl status "$session" --json | jq '.[0].skipped')
    [ "$skipped" -ge 40 ] || fail "only $skipped of the last 40 kernels are left out"
    end $((ran + 40 - skipped)) "$skipped"
    equal "notes" "$(notes)" "recording was stopped: RTL_DURATION is over"
    # The program runs them one by one: one may have been submitted when the time was over.
    pauses "duration" 1

    # A window that rtl ctl opens and closes: what runs in it, before it is interrupted or over.
    for window in 1h 100ms; do
        stops=2
        begin --start-off
        run 10
        asked=(start --duration $window "$pid")
        [ $window = 1h ] || asked=(record $window "$program_PID")
        "$rtl" ctl "${asked[@]}" 2>ctl.err &
        waiter=$!
        if [ $window = 1h ]; then
            until_state recording
            run 20
            kill -INT $waiter
        fi
        wait $waiter || fail "rtl ctl ${asked[*]} ended with status $?: $(cat ctl.err)"
        equal "state behind a window of $window" "$("$rtl" ctl status "$session" --json | jq -r '.[0].state')" stopped
        run 30
        skipped=$("$rtl" ctl status "$session" --json | jq '.[0].skipped')
        if [ $window = 1h ]; then # and some more, which until_state has run before and in the window
            [ "$skipped" -ge 40 ] || fail "only $skipped kernels around the window are left out"
            [ "$skipped" -le $((40 + ran)) ] || fail "$skipped kernels are left out, more than were around the window"
            end $((60 + ran - skipped)) "$skipped"
        else
            "$rtl" ctl start "$pid" || fail "rtl ctl start"
            "$rtl" ctl record 1ms "$pid" >ctl.out 2>ctl.err || fail "rtl ctl record of one that records"
            grep -q "process $pid is recording already, and will be stopped in the end" ctl.err || fail "nobody says what a window ends"
            stops=3
            end 0 40
        fi
        equal "pauses around a window of $window" "$(ask t.db "SELECT count(*) FROM pauses")" $stops
    done
    ;;
steps)
    # A window of steps in a decode loop that goes on: at least so many are there, and not all. The demo is ended by a
    # signal, which is no failure of its.
    rm -f t.db
    "$rtl" trace -q --start-off --gpu soft -o t.db -- "$build/bin/rtl-demo-decode" --tokens 100000 >demo.out 2>run.err &
    recorder=$!
    pid=''
    for ((i = 0; i < 600; i++)); do
        pid=$(ps -o pid= --ppid $recorder | tr -d ' ') || true
        [ -z "$pid" ] || ! "$rtl" ctl status "$pid" >status.out 2>&1 || break
        sleep 0.1
    done
    "$rtl" ctl status "$pid" >status.out || fail "the demo does not get on the list"
    "$rtl" ctl start --steps 40 "$pid" || fail "rtl ctl start --steps ended with status $?"
    steps=$("$rtl" steps --json t.db | jq '[.threads[].phases[].steps] | add')
    [ "$steps" -ge 40 ] || fail "recording was stopped at $steps of 40 steps"
    equal "state behind the window" "$("$rtl" ctl status -p "$pid" --json | jq -r '.[0].state')" stopped
    "$rtl" ctl start --steps 30 "$pid" || fail "the second window ended with status $?"
    again=$("$rtl" steps --json t.db | jq '[.threads[].phases[].steps] | add')
    [ "$again" -ge $((steps + 30)) ] || fail "a second window of 30 steps has $((again - steps))"
    # What rtl ctl record tells is in the trace when it ends.
    kernels=$(ask t.db 'SELECT count(*) FROM kernels')
    "$rtl" ctl record 300ms "$pid" >record.out || fail "rtl ctl record ended with status $?"
    more=$(($(ask t.db 'SELECT count(*) FROM kernels') - kernels))
    [ "$more" -gt 0 ] || fail "nothing was recorded in 300 ms"
    equal "what rtl ctl record says" "$(tr -d ' ' <record.out)" "recorded${more}kernelsin$scratch/t.db"
    # A window that nobody fills is over with its time.
    kill -STOP "$pid"
    "$rtl" ctl start --steps 30 --duration 300ms "$pid" 2>ctl.err || [ $? = 1 ] || fail "a window without steps: $(cat ctl.err)"
    kill -CONT "$pid"
    kill "$pid"
    wait $recorder || true
    ;;
esac
