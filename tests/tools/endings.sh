#!/usr/bin/env bash
# A program ends under rtl trace as it ends without: status, signal, output, arguments, environment,
# descriptors; signals sent to rtl reach it; and the trace says how it ended.
source "$(dirname "$0")/lib.sh"
trace=("$rtl" trace -q -f --gpu soft -o t.db --)

# status_of COMMAND...: as wait(2) has it through the shell, 128 + signal if it died.
status_of() {
    local status=0
    # The subshell's own message about a signal is not ours.
    { (exec "$@") >run.out 2>run.err </dev/null; } 2>/dev/null || status=$?
    echo "$status"
}

ended() {
    "$rtl" info --json t.db | sed -n 's/.*"exit_status": \(-\{0,1\}[0-9]*\).*/\1/p'
}

# Exit statuses.
for status in 0 1 7 42 126 255; do
    equal "exit $status" "$(status_of "${trace[@]}" sh -c "exit $status")" "$status"
    equal "exit $status in the trace" "$(ended)" "$status"
done

# Deaths: the caller sees the same signal, and rtl leaves no core of its own.
for signal in SEGV ABRT KILL TERM INT HUP USR1 FPE; do
    number=$(kill -l "$signal")
    equal "death by $signal" "$(status_of "${trace[@]}" sh -c "ulimit -c 0; kill -$signal \$\$")" $((128 + number))
    equal "death by $signal in the trace" "$(ended)" $((256 + number))
done
ls core* >/dev/null 2>&1 && fail "a core was left"

# What the program gets is what the caller gave.
printf 'in\0put' >input
printf '%s\n' 'printf "%s|" "$@"; cat; echo err >&2' >show.sh
"${trace[@]}" sh show.sh -o x --gpu '' 'a b' '*' <input >run.out 2>run.err
printf -- '-o|x|--gpu||a b|*|in\0put' | cmp -s - run.out || fail "arguments, input or output were changed"
equal "stderr" "$(cat run.err)" err
"${trace[@]}" sh -c 'ls /proc/self/fd | tr "\n" " "' >run.out 2>run.err
sh -c 'ls /proc/self/fd | tr "\n" " "' >plain.out
cmp -s plain.out run.out || fail "the program got other descriptors"
mask='grep -E "Sig(Blk|Ign)" /proc/self/status'
"${trace[@]}" sh -c "$mask" >run.out
sh -c "$mask" >plain.out
cmp -s plain.out run.out || fail "the program got another signal mask"

# The environment: ours behind the tools that are there already, and only what is needed.
HSA_TOOLS_LIB="other.so /old/librtl.so" LD_PRELOAD=libm.so.6 LD_LIBRARY_PATH=/mine "${trace[@]}" env >run.out
equal "HSA_TOOLS_LIB" "$(sed -n 's/^HSA_TOOLS_LIB=//p' run.out)" "other.so $build/lib/librtl.so"
equal "LD_LIBRARY_PATH" "$(sed -n 's/^LD_LIBRARY_PATH=//p' run.out)" "/mine:$build/lib/roctx"
# Where a sanitizer is built in librtl is not preloaded.
preloaded=$([ "${RTL_PRELOAD:-on}" = off ] || echo "$build/lib/librtl.so:")
equal "LD_PRELOAD" "$(sed -n 's/^LD_PRELOAD=//p' run.out)" "${preloaded}libm.so.6:$soft"
equal "RTL_MODE" "$(sed -n 's/^RTL_MODE=//p' run.out)" full
session=$(sed -n 's/^RTL_SESSION=//p' run.out)
[ -n "$session" ] || fail "there was no session"
[ ! -e "$session" ] || fail "the session $session was left behind"
"$rtl" trace -q -f --gpu soft -m lite --buffer 8M -o t.db env >run.out
equal "RTL_MODE of lite" "$(sed -n 's/^RTL_MODE=//p' run.out)" lite
equal "RTL_BUFFER" "$(sed -n 's/^RTL_BUFFER=//p' run.out)" 8388608

# Settings of HIP that would hide packets and doorbells are off, unless the caller has set them.
unset DEBUG_HIP_GRAPH_PM4 DEBUG_CLR_DIRECT_DOORBELL
verbose=("$rtl" trace -q -f --verbose --gpu soft -o t.db --)
"${verbose[@]}" env >run.out 2>run.err
equal "settings of HIP" "$(grep -E '^DEBUG_(HIP_GRAPH_PM4|CLR_DIRECT_DOORBELL)=' run.out | LC_ALL=C sort | xargs)" \
    "DEBUG_CLR_DIRECT_DOORBELL=0 DEBUG_HIP_GRAPH_PM4=0"
grep -q '^rtl: sets DEBUG_HIP_GRAPH_PM4=0 for the program' run.err || fail "--verbose does not tell of DEBUG_HIP_GRAPH_PM4"
grep -q '^rtl: sets DEBUG_CLR_DIRECT_DOORBELL=0 for' run.err || fail "--verbose does not tell of DEBUG_CLR_DIRECT_DOORBELL"
DEBUG_HIP_GRAPH_PM4=1 DEBUG_CLR_DIRECT_DOORBELL='' "${verbose[@]}" env >run.out 2>run.err
equal "settings of the caller" "$(grep -E '^DEBUG_(HIP_GRAPH_PM4|CLR_DIRECT_DOORBELL)=' run.out | LC_ALL=C sort | xargs)" \
    "DEBUG_CLR_DIRECT_DOORBELL= DEBUG_HIP_GRAPH_PM4=1"
grep -q '^rtl: the environment has DEBUG_HIP_GRAPH_PM4=1, which stays' run.err || fail "--verbose does not tell what stays"
"${trace[@]}" env >run.out 2>run.err
equal "said without --verbose" "$(cat run.err)" ""

# Signals to rtl reach the program, which decides.
cat >catch.sh <<'END'
for signal in TERM USR1 USR2 HUP INT; do trap "echo $signal; exit 3" $signal; done
echo ready
while :; do sleep 0.02; done
END
for signal in TERM USR1 USR2 HUP INT; do
    : >run.out
    # A shell without job control starts its background jobs with INT ignored; env puts it back.
    env --default-signal "${trace[@]}" bash catch.sh >run.out 2>run.err &
    within 60 grep -q ready run.out || fail "the program did not start"
    kill "-$signal" $!
    status=0
    wait $! || status=$?
    equal "status after $signal" "$status" 3
    equal "what the program caught" "$(tail -n 1 run.out)" "$signal"
done

# A parent that ignores SIGCHLD loses no status, and the program ignores it too.
equal "SIGCHLD ignored" "$(status_of env --ignore-signal=CHLD "${trace[@]}" sh -c 'exit 9')" 9
ignored="grep SigIgn /proc/self/status"
equal "signals that are ignored" "$(env --ignore-signal=CHLD --ignore-signal=USR2 "${trace[@]}" $ignored)" \
    "$(env --ignore-signal=CHLD --ignore-signal=USR2 $ignored)"

# A script that names no interpreter is one of the shell.
printf 'echo "script $1"; exit 4\n' >bare
chmod +x bare
equal "status of a script without a head" "$(status_of "${trace[@]}" ./bare of mine)" 4
equal "its output" "$("${trace[@]}" ./bare of mine)" "script of"

# The program's stop is rtl's stop for a shell with job control, and both go on.
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then # needs a pseudo-terminal
    cat >stop.sh <<END
set -m
${trace[*]} sh -c 'kill -TSTP \$\$; echo went on; exit 6' >stopped.out &
wait \$!
jobs -s >jobs.out
fg >/dev/null
echo \$? >status.out
END
    timeout 60 script -qec "bash stop.sh" /dev/null >script.out 2>&1 </dev/null || true
    grep -q Stopped jobs.out || fail "the stopped program did not stop rtl"
    equal "output after the stop" "$(cat stopped.out)" "went on"
    equal "status after the stop" "$(cat status.out)" 6
fi

# Relative output, names with blanks, %-words.
mkdir "a folder"
"$rtl" trace -q --gpu soft -o 'a folder/run-%r.db' true
[ -s 'a folder/run-0.db' ] || fail "the output's name was not expanded"
RTL_OUTPUT='from-%p.db' "$rtl" trace -q --gpu soft -- sh -c 'echo $$' >run.out
[ -s "from-$(cat run.out).db" ] || fail "RTL_OUTPUT was not obeyed, or %p is not the program"
"$rtl" trace -q --gpu soft -o 'mask-%p.db' sh -c "$mask" >run.out
cmp -s plain.out run.out || fail "the program got another signal mask, where the output has its pid"

# Names that SQLite takes for those of something else: of another trace, of none.
"$rtl" trace -q --gpu soft -o victim.db true
cp victim.db victim.copy
for name in 'file:victim.db?x' 'file:victim.db#' ':memory:'; do
    "$rtl" trace -q --gpu soft -o "$name" sh -c 'exit 3' || equal "status, into $name" $? 3
    "$rtl" info "$name" | grep -q -F "exit status 3" || fail "'$name' is not the trace that was written"
    "$rtl" export "$name" --to rpd -o "$name.rpd"
    "$rtl" import "$name.rpd" -o "$name.again" || fail "'$name.rpd' was not imported"
    "$rtl" merge "$name.merged" "$name" || fail "'$name' was not merged"
done
cmp victim.db victim.copy || fail "a trace was overwritten by one with another name"

# The summary goes to stderr, unless -q; stdout is the program's.
"$rtl" trace -f --gpu soft -o t.db -- echo mine >run.out 2>run.err
equal "stdout" "$(cat run.out)" mine
grep -q 't.db' run.err || fail "there is no summary on stderr"
grep -q 'no GPU runtime was loaded by echo' <("$rtl" check t.db) || fail "the trace does not say that no GPU runtime was loaded"
