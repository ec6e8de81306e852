#!/usr/bin/env bash
# unseen.sh BUILD PART [HOW]: processes of the program that have the GPU runtime, and that librtl.so tells nothing of. They make the
# trace incomplete, with what is known of them; those of others do not. HOW: looked, where the kernel does not tell which process
# has made which (needs root); apart, so in a pid namespace without the session's leader, as in a container. PART: cleared (without
# its environment), orphaned (the same, when its parents are gone), mute (librtl.so in it reaches nobody; needs root), late (it
# goes on when the recording ends), strangers, nested, brief (it lives less than a look; needs root), between (between two steps of
# a look; needs root), flood (very many of these; needs root), elsewhere (recorded by others), leaving (it begins as the program
# ends; needs root), again (with the pid of another; needs root), bereft (brief, with librtl.so in it and nothing else; needs
# root), rooms (namespaces; needs root), hidden (this user may not look into it; needs root), former (with the pid of a recorded one,
# and without the runtime; needs root), untold (over before anybody looks, where the kernel does not tell who has opened something;
# needs root). Skipped, 77, where something is not there.
source "$(dirname "$0")/lib.sh"
part=$1
export rtl bin
export ctl=$bin/ctl alice="setpriv --reuid=47111 --regid=47111 --clear-groups"
# As a program that has lost all that rtl has put there, and still finds the software GPU. It lives for some looks.
export soft
export bare="env -i LD_PRELOAD=$soft SOFTGPU_PLUGINS=$SOFTGPU_PLUGINS"
export loads='import ctypes, time; ctypes.CDLL("libhsa-runtime64.so.1"); print("loaded", flush=True); time.sleep(float("%s"))'
cat >stays <<'END'
#!/bin/bash
# stays COUNT COMMAND…: ctl under a command, which stays there for a while when it has run the kernels.
count=$1
shift
{ echo "$count"; sleep 3; } | "$@" "$ctl"
END
cat >loads <<'END'
#!/bin/bash
# loads SECONDS COMMAND…: the GPU runtime loaded, and not begun.
seconds=$1
shift
exec "$@" /usr/bin/python3 -c "${loads/\%s/$seconds}"
END
cat >bereft <<'END'
#!/bin/bash
# bereft COMMAND…: with nothing in its environment but what the linker wants.
exec env -i LD_PRELOAD="$LD_PRELOAD" LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}" "$@"
END
chmod 755 stays loads bereft
chmod 711 "$scratch"
export PATH=$scratch:$PATH
traced=("$rtl")
need_root() { [ "$(id -u)" = 0 ] || { echo "not root: skipped" && exit 77; }; }
need_namespaces() {
    need_root
    unshare "$@" true 2>/dev/null || { echo "no namespaces: skipped" && exit 77; }
}
case ${2:-} in
looked) need_namespaces -n && traced=(unshare -n "$rtl") ;;
apart) need_namespaces -npf --mount-proc && traced=(unshare -npf --mount-proc bash -c '"$@"; exit $?' - "$rtl") ;;
esac

# trace MODE COMMANDS: a shell's, recorded; the status of rtl check is in `status`, what it says in check.out.
trace() {
    status=0
    "${traced[@]}" trace -m "$1" --gpu soft -q -f -o t.db -- bash -c "$2" >run.out 2>run.err || fail "$2: the program ended with $?"
    "$rtl" check t.db >check.out 2>&1 || status=$?
}

# here WHAT KERNELS PROCESSES: what is in the trace, and how many processes are said not to be.
here() {
    equal "$1: kernels" "$(ask t.db 'SELECT count(*) FROM kernels')" "$2"
    equal "$1: processes not recorded" "$(ask t.db "SELECT count(*) FROM processes WHERE state = 'unrecorded'")" "$3"
}

# missing MODE KERNELS PROCESSES TEXT COMMANDS: so many kernels are there, and so many processes are not, of each of which a note says
# the text.
missing() {
    trace "$1" "$5"
    equal "$5: status" $status 1
    here "$5" "$2" "$3"
    equal "$5: notes" "$(noted check.out "$4")" "$3"
}

# whole MODE KERNELS COMMANDS: nothing is missing.
whole() {
    trace "$1" "$3"
    equal "$3: status" $status 0
    here "$3" "$2" 0
}

without='has the GPU runtime mapped (.*libhsa-runtime64.so.*) without librtl.so and is not recorded: '

cleared() {
    for mode in lite full; do
        missing $mode 7 1 "(.*ctl) ${without}HSA_TOOLS_LIB was not in its environment" '$ctl <<<7; stays 9 $bare'
        # Who records all from the start is not asked again, nor who has not begun the runtime.
        whole $mode 16 'stays 7; $ctl <<<9'
        whole $mode 7 '$ctl <<<7; loads 3'
    done
    missing lite 7 1 "${without}HSA_TOOLS_LIB was not" '$ctl <<<7; stays 9 env -u HSA_TOOLS_LIB'
    missing full 7 1 "${without}HSA_TOOLS_LIB in its environment names others only" '$ctl <<<7; stays 9 env LD_PRELOAD=$soft HSA_TOOLS_LIB=other.so'
    missing full 7 1 "${without}its environment was empty" '$ctl <<<7; loads 3 env -i'
    # The program itself, and each of several images and processes once.
    missing full 0 1 "${without}HSA_TOOLS_LIB was not" 'exec $bare ctl="$ctl" PATH="$PATH" stays 9'
    missing full 7 2 "${without}HSA_TOOLS_LIB was not" 'stays 9 $bare & $ctl <<<7; stays 9 $bare; wait'
    # An image that is recorded comes after one that is not.
    missing full 7 1 "${without}HSA_TOOLS_LIB was not" \
        'loads 3 env -u HSA_TOOLS_LIB LD_PRELOAD=$soft; $ctl <<<7'
}

# In a session of its own, whose other processes are gone, and that its parent has made.
orphaned() {
    missing full 7 1 "${without}HSA_TOOLS_LIB was not" \
        '$ctl <<<7; setsid $bare ctl="$ctl" PATH="$PATH" bash -c "sleep 3; (stays 9 \"\$@\" &)" - env; sleep 7'
}

# Over before anybody looks: who has opened the runtime is known all the same, where the kernel tells it. The shortest that there are
# only load it.
brief() {
    need_root
    hears_openers || { echo "the kernel does not tell who makes a process or opens a file: skipped" && exit 77; }
    missing full 7 20 "\(opened the GPU runtime.* was over\|${without}HSA_TOOLS_LIB\)" \
        '$ctl <<<7; for ((i = 0; i < 20; i++)); do $bare "$ctl" <<<0; done'
    missing lite 7 20 "\(opened the GPU runtime.* was over\|${without}HSA_TOOLS_LIB\)" \
        '$ctl <<<7; for ((i = 0; i < 20; i++)); do env -i LD_PRELOAD=libhsa-runtime64.so.1 LD_LIBRARY_PATH=$LD_LIBRARY_PATH /bin/true; done'
    # Nor does it matter how soon: the program does it first of all, while rtl does nothing.
    for _ in 1 2 3 4 5 6 7 8; do
        missing full 7 1 "opened the GPU runtime.* was over" 'kill -STOP $PPID; $bare "$ctl" <<<0; $ctl <<<7; kill -CONT $PPID'
    done
    # Whose environment can be read, and names librtl.so, is not meant.
    whole lite 7 '$ctl <<<7; LD_PRELOAD=libhsa-runtime64.so.1 sleep 2'
    # Nor who has a ring, though nobody looked before it was over: of the image that was begun last.
    whole full 7 'rtl=$PPID; kill -STOP $rtl; (sleep 2; kill -CONT $rtl) & exec $ctl <<<7'
}

# Made, and over, between two things that one look reads: which processes there are, and who has opened the runtime.
between() {
    need_root
    hears_openers || { echo "the kernel does not tell who makes a process or opens a file: skipped" && exit 77; }
    traced=(env "LD_PRELOAD=$build/tests/lib/slow_forks.so" "$rtl")
    missing full 7 40 "\(opened the GPU runtime.* was over\|${without}HSA_TOOLS_LIB\)" \
        '$ctl <<<7; for ((i = 0; i < 40; i++)); do env -i LD_PRELOAD=libhsa-runtime64.so.1 LD_LIBRARY_PATH=$LD_LIBRARY_PATH /bin/true; done'
}

# So many while rtl does nothing that Linux keeps neither all that were made nor all that were opened.
flood() {
    need_root
    hears_openers || { echo "the kernel does not tell who makes a process or opens a file: skipped" && exit 77; }
    runtime=$(ldd "$bin/hsa_storm" | sed -n 's/.*libhsa-runtime64.* => \(.*\) (.*/\1/p')
    export runtime
    trace full '$ctl <<<7; kill -STOP $PPID; "$bin/openers" 20000 "$runtime"; $bare "$ctl" <<<9; kill -CONT $PPID'
    equal "flood: status" $status 1
    equal "flood: kernels" "$(ask t.db 'SELECT count(*) FROM kernels')" 7
    [ "$(ask t.db "SELECT count(*) FROM processes WHERE state = 'unrecorded'")" -ge 1000 ] || fail "nearly all are forgotten"
}

# The pid of one that is recorded comes again before rtl has read who opened the runtime: whose pid it is then has opened nothing, though
# it ends before rtl looks at it again.
former() {
    need_root
    hears_openers || { echo "the kernel does not tell who makes a process or opens a file: skipped" && exit 77; }
    cat >twice <<'END'
#!/bin/bash
# twice RTL N COMMAND…: ctl, and with its pid, another one for each N, the command, which is killed when rtl has gone on for 0 to 3 ms.
rtl=$1 before=$((12000 + 150 * $2)) seconds=0.00$(($2 % 4))
shift 2
mkfifo never.$$ && exec 9<>never.$$
kill -STOP "$rtl"
echo $before >/proc/sys/kernel/ns_last_pid
$ctl <<<7 & first=$!
wait $first
echo $before >/proc/sys/kernel/ns_last_pid
"$@" & second=$!
[ $first != $second ] || echo again >>again
kill -CONT "$rtl"
read -r -t "$seconds" -u 9
kill -KILL $second 2>/dev/null
wait
rm never.$$
END
    chmod 755 twice
    whole full 420 'rtl=$PPID; for ((i = 0; i < 60; i++)); do twice $rtl $i env -i /bin/sleep 1; done'
    [ -s again ] || fail "no pid came again"
}

# In the session of another recording, which its environment names.
elsewhere() {
    "$rtl" trace -m full --gpu soft -q -f -o other.db -- bash -c 'echo $RTL_SESSION >other; while [ ! -e over ]; do sleep 0.1; done' &
    while [ ! -s other ]; do sleep 0.1; done
    missing full 7 1 "is recorded in another session, $(cat other), and not in this trace" \
        '$ctl <<<7; stays 9 env "RTL_SESSION=$(cat other)"'
    : >over
    wait $! || fail "the other recording ended with $?"
    "$rtl" check other.db >check.out || fail "the other one is not complete"
    equal "the other one's kernels" "$(ask other.db 'SELECT count(*) FROM kernels')" 9
}

# It clears its environment and loads the runtime as the program ends: what it does then is waited for.
leaving() {
    need_root
    hears_openers || { echo "the kernel does not tell who makes a process or opens a file: skipped" && exit 77; }
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        trace full '$ctl <<<7; (setsid $bare "$ctl" <<<9 >out &); sleep 0'
        equal "leaving: status" $status 1
    done
}

# The pid of one that is recorded comes again at once, where nobody tells who makes a process.
again() {
    local twice='echo 5000 >/proc/sys/kernel/ns_last_pid; $ctl <<<3
        echo 5000 >/proc/sys/kernel/ns_last_pid; $bare "$ctl" <&9 >last; exit 0'
    for sleeps in 0.5 1.5; do
        missing full 3 1 "(.*) ${without}HSA_TOOLS_LIB was not" "exec 9< <(echo 5; sleep $sleeps); $twice"
        equal "kernels of the last one" "$(tail -n 1 last)" "ran 5"
    done
}

# Over before anybody looks, with nothing left in its environment but the preload: librtl.so in it finds the recording by the process's
# ancestors. As another user, whom Linux does not tell who opens what. The nearest ancestor counts, and one that is a program which
# records itself does not.
bereft() {
    need_root
    $alice test -x "$rtl" 2>/dev/null || { echo "other users cannot run $rtl: skipped" && exit 77; }
    mkdir -m 1777 all
    cd all
    traced=($alice "$rtl")
    reason='loaded librtl and is not recorded: its GPU runtime has not loaded librtl.so, because HSA_TOOLS_LIB was taken'
    missing full 7 3 "$reason" \
        '$ctl <<<7; rtl=$PPID; kill -STOP $rtl; for i in 1 2 3; do bereft $ctl <<<9; done; kill -CONT $rtl'
    missing hip 7 1 "$reason" \
        '$ctl <<<7; rtl=$PPID; kill -STOP $rtl; bereft bash -c "bash -c \"$ctl <<<9; true\"; true"; kill -CONT $rtl'
    # Of others: a recording beside this one, and one that is nested.
    $alice "$rtl" trace -m full --gpu soft -q -f -o beside.db -- bash -c '$ctl <<<5; sleep 4; $ctl <<<5' >beside.out 2>&1 &
    sleep 1
    missing full 7 1 "is another rtl trace" \
        '$ctl <<<7; "$rtl" trace -m full --gpu soft -q -f -o inner.db -- bash -c "$ctl <<<5; bereft $ctl <<<9; true"'
    wait $! || fail "the recording beside it ended with $?"
    "$rtl" check beside.db >check.out || fail "a process of another recording is missing in the one beside it"
    "$rtl" check inner.db >check.out && fail "the inner recording does not miss its process"
    equal "inner: processes not recorded" "$(noted check.out "$reason")" 1
    # A trace that a program makes of itself is not about those that it starts.
    $alice env "LD_PRELOAD=$build/lib/librtl.so:$soft" HSA_TOOLS_LIB="$build/lib/librtl.so" RTL_OUTPUT=own.db RTL_MODE=full \
        "$bin/execs" plain 0 /bin/bash -c "bereft $ctl <<<9; sleep 1" >own.out 2>own.err || fail "status $?"
    for ((i = 0; i < 100; i++)); do ! "$rtl" check own.db >check.out 2>&1 || break; sleep 0.1; done
    grep -q '^complete: 20 of 20 kernels' check.out || fail "the program's own trace: $(head -n 1 check.out)"
}

# untold_by WHO...: that somebody has opened the runtime is known all the same, and all who are recorded are no reason to say so. A
# newcomer of somebody else's may be who it was: then it is a note.
untold_by() {
    traced=("$@" "$rtl")
    for _ in 1 2 3; do
        trace full 'stays 7; kill -STOP $PPID; $bare "$ctl" <<<0 >out; $ctl <<<9; kill -CONT $PPID'
        here "$*: untold" 16 $status
        grep -q 'the GPU runtime was opened 1 time by processes that rtl could not look at' check.out || { cat check.out run.err >&2; fail "$*: nobody says so"; }
    done
    whole full 67 'stays 7; for ((i = 0; i < 10; i++)); do $ctl <<<5 & (exec $ctl <<<1); /bin/true; wait; done'
    ! grep 'was opened' check.out || fail "$*: there is nothing but what is recorded"
    rm -f t.db out
}

# By a copy of the library in its place, which nobody else opens.
untold() {
    need_namespaces -m
    hears_openers || { echo "the kernel does not tell who makes a process or opens a file: skipped" && exit 77; }
    $alice test -x "$rtl" 2>/dev/null || { echo "other users cannot run $rtl: skipped" && exit 77; }
    runtime=$(ldd "$bin/hsa_storm" | sed -n 's/.*libhsa-runtime64.* => \(.*\) (.*/\1/p')
    mkdir -m 1777 all
    cp "$runtime" all/runtime
    cd all
    export runtime copy=$PWD/runtime
    local apart=(bash -c 'mount --bind "$copy" "$runtime" && exec "$@"' -)
    untold_by unshare -m "${apart[@]}" $alice
}

mute() {
    need_root
    $alice test -x "$ctl" 2>/dev/null || { echo "other users cannot run $ctl: skipped" && exit 77; }
    missing full 7 1 'loaded librtl and is not recorded: it cannot reach /dev/shm/rtl\.[^ ]* (Permission denied)' \
        '$ctl <<<7; stays 9 env -u RTL_REPORT $alice unshare -rn'
    missing lite 7 1 'loaded librtl and is not recorded: it cannot reach' '$ctl <<<7; stays 9 env -u RTL_REPORT $alice'
    missing full 7 1 'loaded librtl and is not recorded: RTL_SESSION was taken' \
        '$ctl <<<7; stays 9 env -u RTL_REPORT -u RTL_SESSION RTL_OUTPUT=own.db'
}

late() {
    # It loads the runtime, and the program ends: what it does then is not known.
    for command in "" "$bare"; do
        export command
        rm -f out
        trace full '$ctl <<<7; loads 60 $command >out & echo $! >pid.out; while ! grep -q loaded out; do sleep 0.1; done'
        kill "$(cat pid.out)"
        equal "late: status" $status 1
        here "late" 7 1
        grep -q "^INCOMPLETE: 7 of 7 kernels, 1 process not recorded" check.out || fail "the verdict does not tell"
    done
    # What has nothing to do with a GPU is a note.
    for command in "" "env -i"; do
        export command
        whole full 7 '$ctl <<<7; $command sleep 60 >out & echo $! >pid.out; sleep 2'
        kill "$(cat pid.out)"
        grep -q "^  note: 1 process of the program went on when the recording ended (pid $(cat pid.out))" check.out || fail "no note"
    done
}

strangers() {
    # Before, meanwhile, in the same process group and session; an orphan, and one in a session of its own.
    stays 100 $bare >before.out &
    whole full 7 '$ctl <<<7; sleep 3' &
    recording=$!
    sleep 1
    stays 100 $bare >meanwhile.out &
    (stays 100 $bare >orphan.out &)
    (setsid bash -c 'stays 100 $bare >session.out & exit' &)
    wait $recording || fail "somebody else's process makes the trace incomplete"
    wait
    for who in before meanwhile orphan session; do
        for ((i = 0; i < 100; i++)); do grep -q 'ran 100' $who.out && break || sleep 0.1; done
        grep -q 'ran 100' $who.out || fail "the program $who has not run"
    done
}

nested() {
    trace full '$ctl <<<7; "$rtl" trace --gpu soft -q -f -o inner.db -- bash -c "\$ctl <<<5; stays 9 \$bare"'
    equal "nested: status" $status 1
    here "nested" 7 1
    grep -q '^  note: process [0-9]* and its children are not recorded: it is another rtl trace' check.out || fail "no note"
    mv inner.db t.db
    here "the inner one" 5 1
}

rooms() {
    need_namespaces -mpf
    whole full 16 '$ctl <<<7; stays 9 unshare -pf'
    # Its /proc is that of the others, and has another process with the pid that it has itself.
    before=$SECONDS
    whole full 109 'unshare -pf $bin/ends _exit; unshare -pf $ctl <<<9'
    [ $((SECONDS - before)) -lt 30 ] || fail "rtl waits for somebody else's process"
    missing full 7 1 "${without}HSA_TOOLS_LIB was not" '$ctl <<<7; stays 9 unshare -pf $bare'
    missing full 7 1 "${without}HSA_TOOLS_LIB was not" '$ctl <<<7; stays 9 unshare -mpf --mount-proc $bare'
}

hidden() {
    need_root
    $alice test -x "$rtl" 2>/dev/null || { echo "other users cannot run $rtl: skipped" && exit 77; }
    mkdir -m 1777 all
    install -m 4755 /usr/bin/sleep all/sleep
    cd all
    if [ "$($alice bash -c './sleep 1 & readlink /proc/$!/exe')" ]; then echo "no raised privileges here: skipped" && exit 77; fi
    status=0
    $alice "$rtl" trace --gpu soft -q -f -o t.db -- bash -c '$ctl <<<7; ./sleep 6' >run.out 2>run.err || fail "status $?"
    "$rtl" check t.db >check.out || fail "a program that nobody may look into makes the trace incomplete"
    grep -q '^  note: 1 process of the program could not be looked into (process [0-9]*, ./sleep 6): it has raised privileges' \
        check.out || fail "nobody says that a process could not be looked into"
    # One that is recorded need not be: a file that its user may not read makes it undumpable.
    install -m 711 "$bin/ctl" ctl
    export E2E_KERNELS=$bin/e2e_kernels.co
    $alice "$rtl" trace --gpu soft -q -f -o t.db -- bash -c './ctl <<<9; $ctl <<<7' >run.out 2>run.err || fail "status $?"
    "$rtl" check t.db >check.out || fail "an undumpable program is not recorded"
    equal "kernels" "$(ask t.db 'SELECT count(*) FROM kernels')" 16
    ! grep 'could not be looked into' check.out || fail "one that is recorded is said to be hidden"
}

"$part"
