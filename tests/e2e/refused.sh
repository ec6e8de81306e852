#!/usr/bin/env bash
# refused.sh BUILD: full mode by interception on the runtime that is here. Where a batch overflows the staging buffer of its intercept
# queue, it is refused with the patch that mends it, and the program runs as without RTL; elsewhere it is not. So are hardware counters,
# before the program starts, or, where rtl finds another runtime than the program, in the trace.
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

# With hardware counters; kernels of single dispatches are counted by what the runtime has.
unset RTL_QUEUE
metrics=(--metrics l2_hit --counting kernel)
status=0
: >ran
"$rtl" trace -q -f -m full "${metrics[@]}" --gpu soft -o t.db -- sh -c 'rm ran; exec "$@"' - "${program[@]}" >traced.out 2>traced.err || status=$?
if [ "$intercept_generation" = G2 ]; then
    equal "status with counters" "$status" 2
    grep -q "^rtl: hardware counters (--metrics) in full mode need this GPU runtime's intercept queue (G2)" traced.err || fail "nobody says no"
    [ -e ran ] || fail "the program was started"
    "$rtl" doctor >doctor.out || true
    grep -q "note.*hardware counters by .*, but not in full mode" doctor.out || fail "rtl doctor does not say so"
    "$rtl" trace -q -f -m standard "${metrics[@]}" --gpu soft -o t.db -- "${program[@]}" >traced.out 2>traced.err ||
        fail "with counters in standard mode: status $?"
    cmp -s alone.out traced.out || fail "with counters in standard mode: the program's output differs"
else
    equal "status with counters" "$status" 0
    [ ! -e ran ] || fail "the program was not started"
    # A runtime of that kind which rtl has not seen.
    HSA_TOOLS_LIB=$build/tests/lib/intercept_model.so MODEL_GENERATION=G2 "$rtl" trace -q -f -m full "${metrics[@]}" --gpu soft -o t.db -- \
        "${program[@]}" >traced.out 2>traced.err || fail "behind the model: status $?"
    cmp -s alone.out traced.out || fail "behind the model: the program's output differs"
    equal "behind the model: kernels" "$(ask t.db 'SELECT count(*) FROM kernels')" 3000
    "$rtl" check t.db >check.out 2>check.err || fail "behind the model: rtl check ended with status $?"
    grep -q "hardware counters, process 1: mode kernel, 0 of 3 000 kernels counted" check.out || fail "kernels are counted"
    grep -q "note: hardware counters of agent [0-9]* are not read: .*patches/0001-intercept-queue-staging-buffer.patch" check.out ||
        fail "the trace does not say why counters are missing"
fi
