#!/usr/bin/env bash
# rtl collect: detaches, never overwrites, ends by itself, removes the session, and says what is wrong
# before it detaches.
wire=$(sed -n 's/^#define RTL_WIRE_VERSION \([0-9]*\)u$/\1/p' "$(dirname "$0")/../../src/ring/wire.h")
source "$(dirname "$0")/lib.sh"

new_session() {
    session=$(mktemp -d -p "$scratch" session.XXXX)
    printf 'wire %s\nversion test\n' "${1:-$wire}" >"$session/session"
}

status=0
"$rtl" collect >run.out 2>run.err || status=$?
equal "status without a session" "$status" 2
grep -q -- '--session' run.err || fail "the sentence does not name --session"
status=0
"$rtl" collect --session /nowhere -o a.db >run.out 2>run.err || status=$?
equal "status of a missing session" "$status" 2
grep -q '/nowhere' run.err || fail "the sentence does not name the session"
new_session 999
status=0
"$rtl" collect --session "$session" -o a.db >run.out 2>run.err || status=$?
equal "status of another build's session" "$status" 2
grep -q 'another build' run.err && grep -q 999 run.err || fail "the sentence does not say that the session is of another build"
[ ! -e a.db ] || fail "a refused collector left a file"

# Detached: its caller's pipe is closed while it waits for a ring that never comes, and a signal ends it.
new_session
: >taken.db
setsid "$rtl" collect --session "$session" --pid 77 -o 'taken.db' >run.out 2>run.err &
within 60 test -e taken-1.db || fail "no other name was taken"
wait $! || true
pid=$(pgrep -f -- "collect --session $session" | head -n 1)
[ -n "$pid" ] || fail "there is no collector in the background"
silent() { # it says where the trace is before it falls silent
    [ "$(readlink "/proc/$pid/fd/1") $(readlink "/proc/$pid/fd/2")" = "/dev/null /dev/null" ]
}
within 60 silent || fail "its stdout and stderr are not /dev/null"
kill "$pid"
within 60 test ! -e "$session" || fail "the session was not removed"
[ ! -s taken.db ] || fail "the existing file was overwritten"
grep -q 'taken-1.db' run.err || fail "nobody said where the trace is"
"$rtl" check taken-1.db >check.out 2>&1 && fail "a trace of nothing is called complete"
grep -q 'taken-1.db' check.out || fail "the trace does not say that its name was taken"
equal "finished" "$("$rtl" info --json taken-1.db | grep -c '"finished": true')" 1

# A place that cannot be written is said while somebody can still read it.
new_session
status=0
"$rtl" collect --session "$session" -o /nowhere/a.db >run.out 2>run.err || status=$?
within 60 grep -q '/nowhere/a.db' run.err || fail "nobody said that the output cannot be written"
equal "status of an output that cannot be written" "$status" 2
[ ! -e "$session" ] || fail "the session was not removed"

# A session whose maker died before it wrote its name there is removed by the next recording.
mkdir -p tmp/rtl.aaaaaa
chmod 700 tmp/rtl.aaaaaa
: >tmp/rtl.aaaaaa/session
touch -d '10 days ago' tmp/rtl.aaaaaa/session
TMPDIR=$scratch/tmp "$rtl" trace -q --gpu soft -o swept.db -- true || fail "rtl trace ended with status $?"
[ ! -e tmp/rtl.aaaaaa ] || fail "a session without a name was left"
