#!/usr/bin/env bash
# conformance.sh BUILD WAY RUNTIME: what holds whichever way RTL takes into a queue (interpose or intercept) on
# whichever runtime (rocr, adopted: the same, but that RTL does not see a queue being made, or the generation G1, G2 or G3 of the
# model of ROCr's intercept queue):
#
# - signals are decremented exactly once and never early, barrier bits and dependencies are kept, the order is kept, no
#   slot is lost, hsa_amd_profiling_get_dispatch_time tells the device's times: random AQL programs, which check all of
#   this against the truth log (random_verify.c);
# - hipEventElapsedTime tells the device's times: conformance_events.
source "$(dirname "$0")/lib.sh"
export E2E_QUEUE=$1 RTL_QUEUE=$1
way=$1
runtime=$2
if [ "$runtime" = rocr ]; then
    skip_what_is_refused full
elif [ "$runtime" = adopted ]; then
    export E2E_TOOLS=$build/tests/lib/rocm10.so MODEL_HIDE=1 HSA_TOOLS_REPORT_LOAD_FAILURE=1
else
    export E2E_TOOLS=$build/tests/lib/intercept_model.so MODEL_GENERATION=$runtime HSA_TOOLS_REPORT_LOAD_FAILURE=1
fi

"$here/aql_random.sh" "$build" 1..6 10000

printf '*hip_slow* 20000 50%%\n* 1000\n' >durations
export SOFTGPU_DURATION=@durations SOFTGPU_TRUTH=$scratch/truth
LD_PRELOAD=$soft "${hip[@]}" "$bin/conformance_events" >alone.out 2>alone.err || fail "the HIP program alone ended with status $?"
rm -f truth
env ${E2E_TOOLS:+"HSA_TOOLS_LIB=$E2E_TOOLS"} "${hip_traced[@]}" "$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/conformance_events" >traced.out 2>traced.err ||
    fail "the HIP program ended with status $?"
cmp -s alone.out traced.out || fail "the HIP program's output differs"
"$rtl" check --truth truth t.db >check.out 2>check.err || fail "rtl check --truth ended with status $?"
equal "the way into the queues" "$(ask t.db 'SELECT DISTINCT way FROM queues')" "$1"
