#!/usr/bin/env bash
# session.sh BUILD WAY [RANGES]: a program that asks a session what its ranges cost gets what it knows and what the device executed;
# and a trace of the same program has the same ranges with the same work: all of them, whichever RTL_RANGES has the session tell of.
source "$(dirname "$0")/../e2e/lib.sh"
way=$1
[ $# -lt 2 ] || export RTL_RANGES=$2
unset RTL_QUEUE
SOFTGPU_TRUTH=$scratch/truth RANGES_SESSION=1 RTL_BUFFER=256M LD_LIBRARY_PATH=$build/lib:$build/lib/softgpu \
    "$bin/ranges" "$way" >session.out 2>session.err || fail "the program ended with status $?"
[ ! -s session.err ] || fail "something was printed on stderr"

RANGES_EXPECTED=$scratch/expected SOFTGPU_TRUTH=$scratch/traced "$rtl" trace -q --gpu soft --buffer 256M -o t.db -- "$bin/ranges" "$way" >traced.out 2>traced.err ||
    fail "the program ended with status $? under rtl trace"
"$rtl" check --truth traced t.db >check.out 2>&1 || fail "rtl check ended with status $?"
python3 "$here/../ranges/session.py" "$rtl" t.db expected >same.out 2>same.err || fail "rtl ranges does not say what the program knows"

# Nobody may have a session while somebody else records.
RANGES_SESSION=1 SOFTGPU_TRUTH=$scratch/again "$rtl" trace -q --gpu soft -o again.db -- "$bin/ranges" nest >again.out 2>again.err &&
    fail "a session began under rtl trace"
grep -q 'rtlSessionBegin() == 0' again.err || fail "it was not the session that failed"
