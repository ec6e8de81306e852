#!/usr/bin/env bash
# What goes wrong before the program could run is said in one clear sentence that names the thing, and
# the status is not zero.
source "$(dirname "$0")/lib.sh"

# refused WHAT PATTERN... -- COMMAND: the command fails, says one line on stderr, and it matches each pattern.
refused() {
    local what=$1 patterns=() pattern status=0
    shift
    while [ "$1" != -- ]; do
        patterns+=("$1")
        shift
    done
    shift
    "$@" >refused.out 2>refused.err || status=$?
    [ "$status" -ne 0 ] || fail "$what: was not refused"
    [ "$status" -lt 128 ] || fail "$what: died with status $status"
    equal "$what: lines on stderr" "$(wc -l <refused.err)" 1
    [ ! -s refused.out ] || fail "$what: printed something on stdout"
    for pattern in "${patterns[@]}"; do
        grep -q -i -E -e "$pattern" refused.err || fail "$what: the sentence does not say '$pattern'"
    done
}

refused "missing program" no-such-program -- "$rtl" trace --gpu soft -o a.db -- ./no-such-program
[ ! -e a.db ] || fail "a trace was left for a program that does not exist"
refused "program that cannot run" '/etc/passwd' -- "$rtl" trace --gpu soft -o a.db -- /etc/passwd
refused "no program" program -- "$rtl" trace --gpu soft -o a.db --
refused "unwritable output" '/proc/nowhere/a.db' -- "$rtl" trace --gpu soft -o /proc/nowhere/a.db -- touch started
[ ! -e started ] || fail "the program was started although its trace cannot be written"
echo precious >old.db
refused "existing output" 'old.db' 'not a trace' -- "$rtl" trace --gpu soft -o old.db -- touch started
equal "existing output" "$(cat old.db)" precious
[ ! -e started ] || fail "the program was started although its trace exists"
refused "unknown mode" 'fast' 'full' -- "$rtl" trace -m fast --gpu soft -o b.db -- touch started
refused "unknown GPU choice" 'hard' 'soft' -- "$rtl" trace --gpu hard -o b.db -- touch started
refused "unknown command" 'trase' 'trace' -- "$rtl" trase
refused "unreadable trace" 'old.db' -- "$rtl" summary old.db
refused "missing trace" 'none.db' -- "$rtl" check none.db
if [ ! -e /dev/kfd ]; then
    refused "no GPU" '/dev/kfd' -- "$rtl" trace --gpu real -o c.db -- touch started
    refused "no GPU, none asked for" '/dev/kfd' '--gpu soft' -- "$rtl" trace -o c.db -- touch started
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
