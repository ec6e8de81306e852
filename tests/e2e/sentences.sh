#!/usr/bin/env bash
# What goes wrong before the program could run is said in one clear sentence that names the thing, and
# the status is not zero.
source "$(dirname "$0")/../common/wrong.sh"
source "$(dirname "$0")/lib.sh"

wrong 127 no-such-program -- "$rtl" trace --gpu soft -o a.db -- ./no-such-program
[ ! -e a.db ] || fail "a trace was left for a program that does not exist"
wrong 126 '/etc/passwd' -- "$rtl" trace --gpu soft -o a.db -- /etc/passwd
wrong 2 program -- "$rtl" trace --gpu soft -o a.db --
wrong 2 '/proc/nowhere/a.db' -- "$rtl" trace --gpu soft -o /proc/nowhere/a.db -- touch started
[ ! -e started ] || fail "the program was started although its trace cannot be written"
echo precious >old.db
wrong 2 'old.db' 'not a trace' -- "$rtl" trace --gpu soft -o old.db -- touch started
equal "existing output" "$(cat old.db)" precious
[ ! -e started ] || fail "the program was started although its trace exists"
wrong 2 'fast' 'full' -- "$rtl" trace -m fast --gpu soft -o b.db -- touch started
wrong 2 'hard' 'soft' -- "$rtl" trace --gpu hard -o b.db -- touch started
wrong 2 'trase' 'trace' -- "$rtl" trase
wrong 2 'old.db' -- "$rtl" summary old.db
wrong 2 'none.db' -- "$rtl" check none.db
if [ ! -e /dev/kfd ]; then
    wrong 2 '/dev/kfd' -- "$rtl" trace --gpu real -o c.db -- touch started
    wrong 2 '/dev/kfd' '--gpu soft' -- "$rtl" trace -o c.db -- touch started
fi
[ ! -e started ] || fail "a refused command started the program"

# librtl from another build: the program runs as ever, and the trace says in a sentence what is wrong.
usual=$rtl
in_shape librtl-foreign.so
"$rtl" trace -q -m full --gpu soft -o foreign.db -- "$bin/ends" shut-down >foreign.out 2>foreign.err ||
    fail "the program under a foreign librtl ended with status $?"
grep -q 'kernels 100' foreign.out || fail "the program did not run as ever"
grep -q -i -E 'librtl.*(another|different|other) (build|version)s?' foreign.err || fail "nobody said that librtl is another build's"
rtl=$usual

# Where no graphs are known since the mode records no launches, that is said.
"$rtl" trace -q -m lite --gpu soft -o lite.db -- "$bin/ctl" <<<20 >lite.out 2>lite.err || fail "the program in mode lite ended with status $?"
equal "graphs in mode lite" "$("$rtl" graph list lite.db)" \
    "lite.db has no graphs: the modes lite and standard record no launches of graphs (rtl trace -m full does)"
