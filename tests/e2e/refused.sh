#!/usr/bin/env bash
# refused.sh BUILD: full mode by interception on the runtime that is here. Where a batch overflows the staging buffer of its intercept
# queue, it is refused with the patch that mends it, and the program runs as without RTL; elsewhere it is not.
source "$(dirname "$0")/lib.sh"
export RTL_QUEUE=intercept
program=("$bin/hsa_storm" --dispatches 3000 --batch 8)

LD_PRELOAD=$soft "${program[@]}" >alone.out 2>alone.err || fail "without RTL the program ended with status $?"
"$rtl" trace -q -m full --gpu soft -o t.db -- "${program[@]}" >traced.out 2>traced.err || fail "the program ended with status $?"
cmp -s alone.out traced.out || fail "the program's output differs"
kernels=$("$rtl" sql t.db "SELECT count(*) FROM kernels")
status=0
"$rtl" check t.db >check.out 2>check.err || status=$?
if [ "$intercept_generation" = G2 ]; then
    grep -q 'full mode is refused.*patches/0001-intercept-queue-staging-buffer.patch' traced.err || fail "no sentence names the patch"
    equal "kernels" "$kernels" 0
    [ "$status" != 0 ] || fail "what was refused is called complete"
else
    equal "kernels" "$kernels" 3000
    equal "status of rtl check" "$status" 0
fi
