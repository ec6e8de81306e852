#!/usr/bin/env bash
# same.sh BUILD WAY: ranges set by rtl.h alone and by roctx alone, each with a session that tells of that kind alone beside a trace: what
# the two sessions and the two traces say is the same, but for the moments.
source "$(dirname "$0")/../../e2e/lib.sh"
way=$1
unset RTL_QUEUE
for by in rtl roctx; do
    RANGES_BY=$by RTL_RANGES=$by RANGES_SESSION=1 RANGES_EXPECTED=$scratch/$by.expected SOFTGPU_TRUTH=$scratch/$by.truth \
        "$rtl" trace -q --gpu soft -o $by.db -- "$bin/ranges" "$way" >$by.out 2>$by.err || fail "the program ended with status $? ($by)"
done
python3 "$here/../intercept/ranges/same.py" "$rtl" rtl roctx >same.out 2>same.err || fail "ranges of rtl.h and of roctx are not the same"
