#!/usr/bin/env bash
# namespaces.sh BUILD PART: processes of the program in namespaces of their own, several at a time. PART: pids (each has the same pid
# for itself as the others), lost (and others have no ring; needs root), images (and executes itself), ends (and ends at once, or is killed), ctl (and is stopped from outside),
# elsewhere (the recorder is in a namespace that does not see the program), blind (without a /proc), clocks (in a
# time namespace). Skipped, 77, where namespaces cannot be made.
source "$(dirname "$0")/lib.sh"
part=$1
export bin ctl=$bin/ctl
export room="unshare -pf --mount-proc"
$room true 2>/dev/null || { echo "no pid namespaces here: skipped" && exit 77; }

# trace MODE COMMANDS: a shell's, recorded; what rtl check says is in check.out.
trace() {
    rm -f truth.*
    timeout 60 "$rtl" trace -m "$1" --gpu soft -q -f -o t.db -- bash -c "$2" >run.out 2>run.err || fail "$2: the program ended with $?"
    "$rtl" check t.db >check.out 2>&1 || fail "$2: rtl check ended with status $?"
}

# kernels_of LOG: how many kernels of ctl's the software GPU has executed (ROCr's own go beside them).
kernels_of() {
    "$build/bin/softgpu-run" --truth "$1" | grep -c '^kernel .* storm_'
}

# whole MODE COMMANDS COUNT...: images with so many kernels each are in the trace, as the software GPU's logs truth.N have them, and nothing
# is missing.
whole() {
    local number=0 all=0 count
    trace "$1" "$2"
    for count in "${@:3}"; do
        number=$((number + 1))
        all=$((all + count))
        equal "$2: kernels that were executed" "$(kernels_of truth.$number)" "$count"
    done
    grep -q "^complete: $all of $all kernels" check.out || fail "$2: the verdict is $(head -n 1 check.out)"
    equal "$2: kernels of each" "$(ask t.db 'SELECT count(*) AS n FROM kernels GROUP BY process ORDER BY n' | xargs)" \
        "$(printf '%s\n' "${@:3}" | sort -n | xargs)"
}

# runs LOG COMMANDS...: ctl, told so, with a moment before each, in a namespace of its own.
cat >runs <<'END'
#!/bin/bash
log=$1
shift
for command; do sleep 0.3; echo "$command"; done | SOFTGPU_TRUTH=truth.$log $room "$ctl"
END
chmod 755 runs
export PATH=$scratch:$PATH

pids() {
    for mode in full lite; do
        # Soon over, or before anybody looks.
        for _ in 1 2 3; do
            whole $mode 'for i in 20 30; do SOFTGPU_TRUTH=truth.$((i / 10 - 1)) $room $ctl <<<$i & done; wait' 20 30
        done
        whole $mode 'rtl=$PPID; sleep 0.3; kill -STOP $rtl
            for i in 20 30; do SOFTGPU_TRUTH=truth.$((i / 10 - 1)) $room $ctl <<<$i & done; wait; kill -CONT $rtl' 20 30
        whole $mode 'runs 1 20 & runs 2 10 20 & wait' 20 30
        equal "pids of two" "$(ask t.db 'SELECT count(DISTINCT pid) FROM processes WHERE pid > 1')" 2
        whole $mode 'runs 1 20 & runs 2 10 20 & runs 3 40 & runs 4 50 & wait' 20 30 40 50
        equal "pids of four" "$(ask t.db 'SELECT count(DISTINCT pid) FROM processes WHERE pid > 1')" 4
        # One of them is where the others are not.
        whole $mode 'runs 1 20 & room= runs 2 10 20 & room="unshare -pf" runs 3 40 & wait' 20 30 40
    done
}

# lacks PROCESSES COMMANDS: those of ctl that are recorded have 10 kernels each, and so many processes are said not to be.
lacks() {
    for lost in "env -i LD_PRELOAD=$soft" "env -i LD_PRELOAD=$build/lib/librtl.so:$soft"; do
        export lost="$lost SOFTGPU_PLUGINS=$SOFTGPU_PLUGINS"
        timeout 60 "$rtl" trace --gpu soft -q -f -o t.db -- bash -c "$2" >run.out 2>run.err || fail "$2: the program ended with $?"
        equal "$lost: $2: kernels of each" "$(ask t.db 'SELECT count(*) FROM kernels GROUP BY process' | xargs)" "10 10 10"
        equal "$lost: $2: processes not recorded" "$(ask t.db "SELECT count(*) FROM processes WHERE state = 'unrecorded'")" "$1"
    done
}

# A process that nobody has looked at is not taken for one that is recorded, whoever of them was seen, and when.
lost() {
    hears_openers || { echo "the kernel does not tell who makes a process or opens a file: skipped" && exit 77; }
    for _ in 1 2 3 4 5; do
        # All are over before rtl looks.
        lacks 1 'sleep 0.3; kill -STOP $PPID; $room $lost $ctl <<<5 & for i in 1 2 3; do $room $ctl <<<10 & done; wait; kill -CONT $PPID'
        # The others are seen when they begin.
        lacks 2 'for i in 1 2 3; do $room $ctl <<<10; done; sleep 0.3; kill -STOP $PPID
            for i in 1 2; do $room $lost $ctl <<<5; done; kill -CONT $PPID'
        # At the same time.
        lacks 1 'for i in 1 2 3; do $room $ctl <<<10 & done; $room $lost $ctl <<<5; wait'
    done
}

# The first process of a namespace executes itself.
images() {
    trace full 'runs 1 20 again 21 & runs 2 30 again 31 & wait'
    grep -q '^complete: 102 of 102 kernels' check.out || fail "the verdict is $(head -n 1 check.out)"
    equal "kernels of each image" "$(ask t.db 'SELECT count(*) AS n FROM kernels GROUP BY process ORDER BY n' | xargs)" "20 21 30 31"
    equal "how they ended" "$(ask t.db 'SELECT state, count(*) FROM processes GROUP BY state' | xargs)" "closed|2 replaced|2"
    equal "their pids" "$(ask t.db 'SELECT count(DISTINCT pid) FROM processes')" 2
}

# What was waited for is there, however the process ends.
ends() {
    for way in _exit kill; do
        export way
        trace full 'for i in 1 2 3; do $room bash -c "\$bin/ends $way; exit 0" & done; wait'
        grep -q '^complete: 300 of 300 kernels' check.out || fail "$way: the verdict is $(head -n 1 check.out)"
        equal "$way: kernels of each" "$(ask t.db 'SELECT count(*) FROM kernels GROUP BY process' | xargs)" "100 100 100"
    done
}

# rtl ctl means one of them, by the pid that it has outside.
ctl() {
    mkfifo go.1 go.2
    rm -f truth.*
    "$rtl" trace --gpu soft -q -f -o t.db -- bash -c '$room $ctl <go.1 & $room $ctl <go.2 & wait' >run.out 2>run.err &
    recording=$!
    exec 5>go.1 6>go.2
    echo 10 >&5
    echo 20 >&6
    until [ "$(grep -c ran run.out)" = 2 ]; do sleep 0.1; done
    "$rtl" ctl status --json >status.out
    stopped=
    for pid in $(/usr/bin/python3 -c 'import json; print(*(one["pid"] for one in json.load(open("status.out"))))'); do
        [[ $(readlink "/proc/$pid/fd/0") != */go.1 ]] || stopped=$pid
    done
    "$rtl" ctl stop --pid "$stopped" >stop.out || fail "process $stopped cannot be stopped"
    echo 30 >&5
    echo 40 >&6
    exec 5>&- 6>&-
    wait $recording || fail "the program ended with $?"
    "$rtl" check t.db >check.out || fail "rtl check ended with $?"
    equal "kernels of each" "$(ask t.db 'SELECT count(*) AS n FROM kernels GROUP BY process ORDER BY n' | xargs)" "10 60"
    equal "kernels of the one that was stopped" \
        "$(ask t.db "SELECT count(*) FROM kernels JOIN processes USING (process) WHERE pid = $stopped")" 10
}

# The recorder sees none of the processes: they tell themselves that they live.
elsewhere() {
    export rtl
    cat >outside <<'END'
#!/bin/bash
# outside: writes down what rtl has set, and waits until somebody outside has used it.
env -0 | grep -z '^\(RTL_\|HSA_TOOLS_LIB=\|LD_PRELOAD=\|LD_LIBRARY_PATH=\)' >made.env
mv made.env given.env
until [ -e over ]; do sleep 0.1; done
END
    chmod 755 outside
    $room "$rtl" trace --gpu soft -q -f -o t.db -- outside >run.out 2>run.err &
    recording=$!
    until [ -e given.env ]; do sleep 0.1; done
    mapfile -d '' given <given.env
    { echo 10; sleep 1; echo 20; sleep 1; } | env "${given[@]}" $ctl >one.out 2>one.err &
    { echo 30; sleep 2; echo 40; } | env "${given[@]}" $room $ctl >two.out 2>two.err || fail "status $?"
    env "${given[@]}" $bin/ends kill >three.out 2>three.err || true
    wait %2
    touch over
    wait $recording || fail "the recording ended with $?"
    "$rtl" check t.db >check.out || fail "rtl check ended with $?: $(head -n 1 check.out)"
    equal "kernels of each" "$(ask t.db 'SELECT count(*) AS n FROM kernels GROUP BY process ORDER BY n' | xargs)" "30 70 100"
    equal "how they ended" "$(ask t.db 'SELECT state, count(*) FROM processes GROUP BY state' | xargs)" "closed|2 died|1"
}

# Without a /proc nothing tells which process it is but that it holds its ring. The test's programs want one link of it.
blind() {
    unshare -mpf true 2>/dev/null || { echo "no mount namespaces here: skipped" && exit 77; }
    export blind='mount -t tmpfs none /proc && mkdir /proc/self && ln -s $ctl /proc/self/exe'
    whole full 'for i in 1 2; do (sleep 0.3; echo ${i}0; sleep 1; echo 5) |
        SOFTGPU_TRUTH=truth.$i unshare -mpf bash -c "$blind && exec $ctl" & done; wait' 15 25
    equal "notes" "$(grep -c 'could not be found out whether this process is in a time namespace' check.out)" 1
    trace full 'for i in 1 2; do unshare -mpf bash -c "$blind; $bin/ends kill; exit 0" & done; wait'
    equal "kernels of those that were killed" "$(ask t.db 'SELECT count(*) FROM kernels GROUP BY process' | xargs)" "100 100"
}

# clocks: a process whose CLOCK_BOOTTIME and CLOCK_MONOTONIC are others than the machine's has all times by the machine's: what it did
# lies between what was done before and after it.
clocks() {
    unshare -T --boottime 100000 --monotonic 5000 true 2>/dev/null || { echo "no time namespaces here: skipped" && exit 77; }
    cat >marks <<'END'
#!/bin/bash
# marks FILE COMMAND…: the machine's time before and after, in ns.
now() { /usr/bin/python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_BOOTTIME))' >>"$file"; }
file=$1
shift
now
"$@"
status=$?
now
exit $status
END
    chmod 755 marks
    export flood="$bin/flood 20"
    for offsets in "--boottime 100000 --monotonic 5000" "--boottime -600 --monotonic -300" "--boottime 3600"; do
        export offsets
        rm -f marks.* truth-*
        SOFTGPU_TRUTH=truth-%p "$rtl" trace -m full --gpu soft -q -f -o t.db -- bash -c \
            'marks marks.1 $flood; marks marks.2 unshare -T $offsets $flood; marks marks.3 $flood' >run.out 2>run.err ||
            fail "$offsets: the program ended with $?"
        "$rtl" check t.db $(printf -- '--truth %s ' truth-*) >check.out 2>&1 || fail "$offsets: rtl check ended with $?"
        grep -q '^truth: equal' check.out || fail "$offsets: not what the device executed"
        equal "$offsets: clocks that are the machine's" "$(ask t.db \
            'SELECT max(boottime - monotonic) - min(boottime - monotonic) < 1e9 FROM clock_brackets')" 1
        for process in 1 2 3; do
            within t.db $process marks.$process
        done
    done
    # The recorder is in the namespace as well.
    rm -f marks.*
    marks marks.1 unshare -T $offsets "$rtl" trace -m full --gpu soft -q -f -o t.db -- $flood >run.out 2>run.err || fail "status $?"
    "$rtl" check t.db >check.out 2>&1 || fail "the recorder's: rtl check ended with $?"
    within t.db 1 marks.1
}

# within TRACE PROCESS MARKS: all times of the process in the trace lie between those in the file. When it has ended is what the recorder
# has noticed.
within() {
    local begin end times
    { read -r begin; read -r end; } <"$3"
    for times in kernels ranges; do
        equal "$times of process $2 that are not between the marks" \
            "$(ask "$1" "SELECT count(*) FROM $times WHERE process = $2 AND (start < $begin OR end > $end OR end < start)")" 0
        [ "$(ask "$1" "SELECT count(*) FROM $times WHERE process = $2")" -gt 0 ] || fail "process $2 has no $times"
    done
    equal "start of process $2" "$(ask "$1" "SELECT start BETWEEN $begin AND $end AND start < end FROM processes WHERE process = $2")" 1
}

"$part"
