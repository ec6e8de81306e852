#!/usr/bin/env bash
# others.sh BUILD: a program whose user is not the only one on the machine. What others have put beside the library or
# under the names of its files is not run or written to; a program with raised privileges does not do what its user's environment
# says. Needs root, to be two users; skipped (77) otherwise.
source "$(dirname "$0")/lib.sh"
alice=47111
bob=47112
by() { # by USER COMMAND...
    local user=$1
    shift
    timeout 120 setpriv --reuid="$user" --regid="$user" --clear-groups env HOME=/nowhere "$@"
}
[ "$(id -u)" = 0 ] || { echo "not root: skipped" && exit 77; }
by $alice "$rtl" --version >/dev/null 2>&1 || { echo "other users cannot run $rtl: skipped" && exit 77; }
chmod 711 "$scratch"
shared=$scratch/shared
mkdir -m 1777 "$shared"
cd "$shared"
on_soft=(env "LD_PRELOAD=$soft" SOFTGPU_DURATION=1000)

# whole TRACE: waits until alice's collector has made it whole, at most a minute.
whole() {
    for ((i = 0; i < 600; i++)); do
        by $alice "$rtl" check "$1" >"$scratch/check.out" 2>&1 && return
        sleep 0.1
    done
    fail "$1 does not become a complete trace"
}

# Beside a library that lies alone in a folder of alice's, the folders where rtl could be are everybody's.
mkdir -m 755 mine
cp "$build/lib/librtl.so" mine/
chown -R $alice:$alice mine
by $bob sh -c "mkdir bin && printf '#!/bin/sh\\ntouch $shared/was-run\\n' >bin/rtl && chmod -R 755 bin"
by $alice "${on_soft[@]}" HSA_TOOLS_LIB="$shared/mine/librtl.so" RTL_OUTPUT="$shared/a.db" "$bin/ctl" <<<5 >"$scratch/run.out" 2>"$scratch/run.err"
grep -q 'ran 5' "$scratch/run.out" || fail "the program did not run"
grep -q 'rtl command was not found beside librtl.so' "$scratch/run.err" || fail "nobody says that nothing is recorded"
[ ! -e was-run ] || fail "another user's program was run"
# What is root's or her own is.
install -D -o $alice -g $alice -m 755 "$build/bin/rtl" own/bin/rtl
install -D -o $alice -g $alice -m 755 "$build/lib/librtl.so" own/lib/librtl.so
chown -R $alice:$alice own
by $alice "${on_soft[@]}" HSA_TOOLS_LIB="$shared/own/lib/librtl.so" RTL_MODE=full RTL_OUTPUT="$shared/b.db" "$bin/ctl" <<<5 >"$scratch/run.out" 2>"$scratch/run.err"
whole "$shared/b.db"
equal "kernels" "$(ask b.db 'SELECT count(*) FROM kernels')" 5
# The other way round: rtl that lies alone takes no library of others.
install -D -o $alice -g $alice -m 755 "$build/bin/rtl" alone/rtl
by $bob sh -c "mkdir lib && cp '$build/lib/librtl.so' lib/"
status=0
by $alice "$shared/alone/rtl" trace -q -o "$shared/c.db" -- true 2>"$scratch/run.err" || status=$?
equal "status of rtl beside another user's library" $status 2

# Somebody else's session, though its user says so.
session=$(mktemp -d /dev/shm/rtl.XXXXXX)
trap 'leave $? "$BASH_COMMAND"; rm -rf "$session"' EXIT
printf 'wire %s\nversion test\n' "$(sed -n 's/^#define RTL_WIRE_VERSION \([0-9]*\)u$/\1/p' "$here/../../src/ring/wire.h")" >"$session/session"
chown -R $bob:$bob "$session"
for user in 0 $alice; do
    [ "$user" = 0 ] || chmod 755 "$session"
    by "$user" "${on_soft[@]}" HSA_TOOLS_LIB="$build/lib/librtl.so" RTL_SESSION="$session" "$bin/ctl" <<<5 >"$scratch/run.out" 2>"$scratch/run.err"
    grep -q 'is not a session (it is not yours alone' "$scratch/run.err" || fail "another user's session is used"
    equal "files of the session" "$(ls "$session")" session
done

# The truth log of the software GPU.
echo precious >"$scratch/precious"
chmod 644 "$scratch/precious"
by $bob ln -s "$scratch/precious" log
by 0 "${on_soft[@]}" SOFTGPU_TRUTH="$shared/log" "$bin/ctl" <<<5 >"$scratch/run.out" 2>"$scratch/run.err"
grep -q "no truth log in '$shared/log'" "$scratch/run.err" || fail "nobody says that there is no log"
equal "the file behind a link" "$(cat "$scratch/precious")" precious
rm log
by $bob sh -c 'umask 0; : >log'
by $alice "${on_soft[@]}" SOFTGPU_TRUTH="$shared/log" "$bin/ctl" <<<5 >"$scratch/run.out" 2>"$scratch/run.err"
[ ! -s log ] || fail "another user's file got the log"
rm log

# A program that is root for alice.
install -m 4755 "$bin/privileged" "$shared/privileged"
status=0
by $alice HSA_TOOLS_LIB="$build/lib/librtl.so" RTL_MODE=full RTL_OUTPUT="$shared/root.db" TMPDIR="$shared" "$shared/privileged" >"$scratch/run.out" 2>"$scratch/run.err" || status=$?
if [ $status != 3 ]; then
    equal "status of the privileged program" $status 0
    equal "what is said" "$(cat "$scratch/run.err")" "rtl: the program runs with raised privileges: nothing is recorded"
    ! compgen -G "$shared/*.db" | grep -v '/b.db$' || fail "a trace was made"
fi
