#!/usr/bin/env bash
# unreached.sh BUILD PART: processes of a session that are not recorded though nothing is wrong with the session. The trace says
# so and is not complete, unless they had nothing that could be recorded. PART: session (the process does not reach it; needs
# root and is skipped, 77, otherwise), strangers (who have no say in it; the same), tool (the GPU runtime does not load librtl.so), many,
# start (the GPU runtime does not come up).
source "$(dirname "$0")/lib.sh"
part=$1
export rtl
export again=$bin/exec_again ctl=$bin/ctl # 1000 kernels of HIP; as many of HSA as are asked for, and an orderly shut-down
export alice="setpriv --reuid=47111 --regid=47111 --clear-groups"
chmod 711 "$scratch"
mkdir -m 1777 all
cd all
if [ "$part" = session ] || [ "$part" = strangers ]; then
    [ "$(id -u)" = 0 ] || { echo "not root: skipped" && exit 77; }
    $alice test -x "$again" 2>/dev/null || { echo "other users cannot run $again: skipped" && exit 77; }
fi

# trace COMMANDS: a shell's, recorded; the status of rtl check is in `status`, what it says in check.out.
trace() {
    status=0
    "$rtl" trace --gpu soft -q -f -o ../t.db -- bash -c "$1" >../run.out 2>../run.err || fail "$1: the program ended with $?"
    "$rtl" check ../t.db >../check.out 2>&1 || status=$?
}

# here WHAT KERNELS STATE PROCESSES: what is in the trace.
here() {
    equal "$1: kernels" "$(ask ../t.db 'SELECT count(*) FROM kernels')" "$2"
    equal "$1: processes that are $3" "$(ask ../t.db "SELECT count(*) FROM processes WHERE state = '$3'")" "$4"
}

# missing KERNELS PROCESSES TEXT COMMANDS: so many kernels are there, and so many processes are not recorded for that reason.
missing() {
    trace "$4"
    equal "$4: status" $status 1
    here "$4" "$1" unrecorded "$2"
    equal "$4: notes" "$(noted ../check.out "loaded librtl and is not recorded: .*$3")" "$2"
    grep -q "^INCOMPLETE: .*, $2 process.* not recorded\|^nothing recorded: process" ../check.out || fail "$4: the verdict does not tell"
    ! grep -q '^rtl: RTL_SESSION' ../run.err || fail "$4: the process says itself what rtl says"
}

# whole KERNELS COMMANDS: nothing is missing.
whole() {
    trace "$2"
    equal "$2: status" $status 0
    here "$2" "$1" unrecorded 0
}

# nested KERNELS COMMANDS: what another rtl trace has recorded is missing here, and complete there.
nested() {
    trace "$2"
    equal "$2: status" $status 1
    here "$2" "$1" unrecorded 1
    grep -q '^  note: process [0-9]* and its children are not recorded: it is another rtl trace' ../check.out || fail "$2: no note"
    "$rtl" check inner.db >inner.out || fail "$2: the inner trace is not complete"
    equal "$2: kernels of the inner trace" "$(ask inner.db 'SELECT count(*) FROM kernels')" 1000
}

session() {
    whole 1000 '$again 0'
    missing 1000 1 'cannot reach /dev/shm/rtl\.[^ ]* (Permission denied)' '$again 0; $alice $again 0'
    missing 0 1 'cannot reach' '$alice $ctl <<<7'
    missing 1000 2 'RTL_SESSION is not /dev/shm/rtl\.[^ ]* any more' '$again 0; RTL_SESSION=/nowhere $again 0; RTL_SESSION=/tmp $again 0'
    missing 1000 1 'RTL_SESSION was taken' '$again 0; env -u RTL_SESSION RTL_OUTPUT=own.db $again 0'
    nested 1000 '$again 0; "$rtl" trace --gpu soft -q -f -o inner.db -- $again 0'
    # No ring, and nobody looks for it: it ends at once, and nobody is its parent.
    missing 1000 1 'cannot reach' '$again 0; (setsid $alice $again 0 & wait $!)'
    if unshare -m mount -t tmpfs none /dev/shm 2>/dev/null; then
        missing 1000 1 'cannot reach .*(No such file' '$again 0; unshare -m bash -c "mount -t tmpfs none /dev/shm && $again 0"'
        missing 1000 1 'cannot reach .*(No such file' '$again 0; unshare -mpf bash -c "mount -t tmpfs none /dev/shm && $again 0"'
    fi
}

# Who knows the sockets' names, as all do, and not what is in the environment, says that other processes are not recorded.
strangers() {
    cat >lie.py <<'END'
import socket
import sys

names = [line.split("@")[1].strip() for line in open("/proc/net/unix") if "@rtl-" in line]
sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
sent = 0
for number in range(3000):
    for name in names:
        for text in (b"", b"x", b"0" * 32 + b"13 0 0 0 1 0 0", b"0" * 31, b"0" * 5000):
            try:
                sender.sendto(text, "\0" + name)
                sent += 1
            except OSError:
                pass
sys.exit(not names or not sent)
END
    whole 1000 "env -i $alice python3 lie.py; \$again 0"
    # A descriptor that is sent along goes nowhere, and who has the key says nothing that is none.
    cat >nonsense.py <<'END'
import os
import socket

name, key = os.environ["RTL_REPORT"].split(":")
sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
for text in ("", "1 2 3", "1 2 3 4 99 0 0", "1 2 3 4 1 77 0", "%n%s" * 9, "9" * 90, "1" * 127, "1" * 4000):
    with open("/dev/null") as file:
        socket.send_fds(sender, [(key + text).encode()], [file.fileno()], 0, "\0" + name)
END
    whole 1000 'python3 nonsense.py; $again 0'
}

# many: what is the same of sixty processes is said once, and of which others it holds.
many() {
    missing 7 60 'HSA_TOOLS_LIB was taken' '$ctl <<<7; for i in {1..60}; do env -u HSA_TOOLS_LIB $ctl <<<1; done'
    equal "many: lines of notes" "$(grep -c '^  note: .*HSA_TOOLS_LIB was taken' ../check.out)" 1
    equal "many: lines on stderr" "$(grep -c '^rtl: process [0-9]* loaded librtl and is not recorded' ../run.err)" 1
    equal "many: lines of others" "$(grep -c '^rtl: the same holds for 59 more processes as for process' ../run.err)" 1
    equal "many: all lines" "$(grep -c '^rtl: ' ../run.err)" 2
    "$rtl" info ../t.db >../info.out
    equal "many: lines of rtl info" "$(grep -c 'HSA_TOOLS_LIB was taken' ../info.out)" 1
    # The first of them by their pids, in both places; each has its row and its note.
    pids=$(ask ../t.db "SELECT group_concat(pid, ', ') FROM (SELECT pid FROM processes WHERE state = 'unrecorded' ORDER BY process LIMIT 8 OFFSET 1)")
    grep -q "processes: $pids, \.\.\.)$" ../check.out || fail "many: the notes do not name $pids"
    grep -q "($pids, \.\.\.)$" ../run.err || fail "many: stderr does not name $pids"
    equal "many: notes in the trace" "$(ask ../t.db "SELECT count(*) FROM notes WHERE text LIKE '%HSA_TOOLS_LIB was taken%'")" 60
    # Each with a limit of its own, with which the program runs and RTL does not.
    limit=$([ "$rocr" -ge 18 ] && echo 84000 || echo 70000)
    export limit
    missing 7 12 'RLIMIT_DATA' '$ctl <<<7; for i in {1..12}; do (ulimit -d $((limit + i)); exec $ctl <<<1); done'
    equal "many limits: lines of notes" "$(grep -c '^  note: .*RLIMIT_DATA' ../check.out)" 1
    equal "many limits: lines on stderr" "$(grep -c '^rtl: ' ../run.err)" 2
    grep -q '^rtl: the same holds, with other numbers, for 11 more processes as for process' ../run.err || fail "many limits: others"
}

tool() {
    # Nobody is left to tell but the user: there is no recording that it descends from.
    LD_PRELOAD=$build/lib/librtl.so:$soft RTL_MODE=full $again 0 >../run.out 2>../run.err || fail "status $?"
    grep -q '^rtl: the GPU runtime has not loaded librtl.so' ../run.err || fail "a process that has the preload alone says nothing"
    # Or there is one.
    missing 0 1 'HSA_TOOLS_LIB was taken' 'env -u HSA_TOOLS_LIB -u RTL_SESSION -u RTL_REPORT $again 0'
    ! grep -q 'the GPU runtime has not loaded librtl.so' ../run.err || fail "a process that has told rtl tells the user, too"
    missing 1000 1 'HSA_TOOLS_LIB was taken' '$again 0; env -u HSA_TOOLS_LIB $again 0'
    missing 7 1 'HSA_TOOLS_LIB was taken' '$ctl <<<7; env -u HSA_TOOLS_LIB $ctl <<<8'
    # The session is lost, too; and all that tells where to report: the process finds the recording by its
    # ancestors, or, where one of them has ended, rtl finds what it shows.
    missing 7 1 'HSA_TOOLS_LIB was taken' '$ctl <<<7; env -u HSA_TOOLS_LIB -u RTL_SESSION $ctl <<<8'
    missing 7 1 'HSA_TOOLS_LIB was taken' '$ctl <<<7; (echo 8; sleep 4) | env -u HSA_TOOLS_LIB -u RTL_SESSION -u RTL_REPORT -u RTL_MODE $ctl'
    # Without a word from Linux rtl may miss an orphan whose parent came and went between two looks (src/collect/tree.h).
    if hears_openers; then
        missing 7 1 'HSA_TOOLS_LIB was taken' '$ctl <<<7
            bash -c "(sleep 1; echo 8; sleep 4) | env -u HSA_TOOLS_LIB -u RTL_SESSION -u RTL_REPORT -u RTL_MODE $ctl & exit"; sleep 6'
    else
        echo "the kernel does not tell who makes a process: an orphan is not tried"
    fi
    missing 0 1 'names others only' "HSA_TOOLS_LIB=$build/tests/lib/meddler.so \$ctl <<<8"
    # Three images, each without. What has found the runtime by a handle is no less without.
    missing 0 3 'HSA_TOOLS_LIB was taken' 'env -u HSA_TOOLS_LIB $again 2'
    export opened='import ctypes; ctypes.CDLL("libhsa-runtime64.so.1").hsa_init()'
    missing 0 1 'HSA_TOOLS_LIB was taken' 'env -u HSA_TOOLS_LIB /usr/bin/python3 -c "$opened"'
    # Who does not start the runtime has lost nothing, nor who asks whether there is one.
    whole 7 '$ctl <<<7; env -u HSA_TOOLS_LIB $bin/hsa_storm --help'
    whole 7 '$ctl <<<7; env -u HSA_TOOLS_LIB /usr/bin/python3 -c "import ctypes; ctypes.CDLL(\"libhsa-runtime64.so.1\")"'
    equal "what finds hsa_init where there is none" \
        "$("$rtl" trace --gpu soft -q -f -o ../t.db -- /usr/bin/python3 -c 'import ctypes; print(hasattr(ctypes.CDLL(None), "hsa_init"))')" False
    for program in weak_none weak_hsa; do
        LD_PRELOAD=$soft "$bin/$program" >../plain.out || fail "$program ended with status $?"
        "$rtl" trace --gpu soft -q -f -o ../t.db -- "$bin/$program" >../traced.out || fail "$program, traced, ended with status $?"
        equal "what weak references of $program find" "$(cat ../traced.out)" "$(cat ../plain.out)"
    done
    grep -q '^hsa_init: there, in data there, early there' ../plain.out || fail "the runtime that a program is linked with is not there"
    # A copy of librtl.so is the tool: it records, in the same session.
    mkdir copy
    cp "$build/lib/librtl.so" copy/
    trace "HSA_TOOLS_LIB=$PWD/copy/librtl.so \$ctl <<<7"
    here "a copy" 7 unrecorded 0
}

start() {
    # The real runtime finds no GPU, where there is none.
    export librtl=$build/lib/librtl.so
    if [ ! -e /dev/kfd ]; then
        whole 1000 '$again 0; env LD_PRELOAD=$librtl $again 0 || true'
        here "one of two" 1000 not_started 1
        trace 'env LD_PRELOAD=$librtl $again 2 || true'
        equal "no start: status" $status 1
        here "no start" 0 not_started 1
        grep -q '^nothing recorded: process [0-9]* loaded a GPU runtime that did not come up: hsa_init returned 0x10' ../check.out ||
            fail "it is not said that the runtime did not come up"
    fi
    # It ends in the midst of it.
    trace '(ulimit -c 0; ulimit -v 1000000; $again 0) || true'
    equal "an end within the start: status" $status 1
    here "an end within the start" 0 not_started 1
    grep -q '^nothing recorded: process [0-9]* loaded a GPU runtime that did not come up: hsa_init had not returned' ../check.out ||
        fail "it is not said that the runtime did not come up"
    # The same where the runtime had loaded librtl.so: one process, whose ring says that it is gone.
    export meddler=$build/tests/lib/meddler.so
    trace 'env MEDDLER_KILL=1 HSA_TOOLS_LIB="$librtl $meddler" $ctl <<<1 || true'
    equal "an end behind OnLoad: processes" "$(ask ../t.db "SELECT group_concat(state) FROM processes")" died
    grep -q '^  note: process [0-9]* loaded a GPU runtime that did not come up: hsa_init had not returned' ../check.out ||
        fail "it is not said that the runtime did not come up"
    # Where nobody loads one, nobody says so.
    trace true
    grep -q '^nothing recorded: no GPU runtime came up' ../check.out || fail "something is said of a runtime"
}

export bin
"$part"
