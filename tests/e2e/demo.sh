#!/usr/bin/env bash
# The demo program under `rtl trace` in full mode: every kernel is there, as the device executed it; and
# `rtl demo` itself ends well and shows the summary.
source "$(dirname "$0")/lib.sh"
unset SOFTGPU_PLUGINS

(
    export SOFTGPU_TRUTH=$scratch/truth SOFTGPU_PLUGINS=$build/lib/softgpu/decode_plugin.so
    "$rtl" trace -q -m full --gpu soft -o demo.db -- "$build/bin/rtl-demo-decode" --tokens 60 >demo.out 2>demo.err
) || fail "the demo under rtl trace ended with status $?"
grep -q 'matches the host' demo.out || fail "the demo's result is not the host's"
"$rtl" check --truth truth demo.db >check.out 2>check.err || fail "rtl check --truth ended with status $?"
executed=$("$build/bin/softgpu-run" --truth truth | grep -c -i 'kernel') || true
recorded=$(ask demo.db 'SELECT count(*) FROM kernels')
# Some 300 nodes a token; the exact number is the truth log's, which rtl check has compared.
[ "$recorded" -gt 15000 ] || fail "only $recorded kernels are in the trace of 60 tokens"
[ "$executed" -ge "$recorded" ] || fail "the trace has $recorded kernels, the device executed $executed"

# A signal ends it in order, as a server, with the tokens that it has.
(
    export SOFTGPU_TRUTH=$scratch/ended SOFTGPU_PLUGINS=$build/lib/softgpu/decode_plugin.so
    exec "$rtl" trace -q -m full --gpu soft -o ended.db -- "$build/bin/rtl-demo-decode" --tokens 50000 >ended.out 2>ended.err
) &
recorder=$!
# How many kernels it has had; nothing before there is one.
seen() {
    local program
    program=$(pgrep -P $recorder) && "$rtl" ctl status -p "$program" --json 2>status.err | jq '.[0].seen // 0'
}
until [ "$(seen)" -gt 1000 ] 2>>status.err; do sleep 0.1; done
kill $recorder
wait $recorder || fail "the demo that was told to end ended with status $?"
grep -q '^decoded [1-9][0-9]* tokens.* matches the host' ended.out || fail "what it has decoded is not the host's"
"$rtl" check --truth ended ended.db >check.out 2>check.err || fail "rtl check --truth of it ended with status $?"

"$rtl" demo --keep kept.db >whole.out 2>whole.err || fail "rtl demo ended with status $?"
mkdir temporary
TMPDIR=$scratch/temporary "$rtl" demo --tokens 20 >there.out 2>there.err || fail "rtl demo without --keep ended with status $?"
there=$(sed -n 's/^the trace is in //p' there.out)
equal "what is left of a demo" "$(find temporary -type f)" "temporary/${there#"$scratch/temporary/"}"
grep -q "^$there: " there.out || fail "the summary names another trace"
"$rtl" check "$there" >check.out 2>check.err || fail "rtl check of the demo's trace ended with status $?"
grep -q -i 'complete' whole.out whole.err || fail "rtl demo does not say that the trace is complete"

# How a program submits, as script/demo has it told: a storm rings once for ten packets, and once for a barrier
# at its end.
HSA_TOOLS_LIB=$build/lib/softgpu/doorbells.so SOFTGPU_PLUGINS=$build/tests/lib/e2e_plugin.so LD_PRELOAD=$soft \
    "$bin/hsa_storm" --dispatches 1000 --batch 10 >storm.out 2>storm.err || fail "the storm ended with status $?"
equal "packets by doorbells" "$(grep doorbell storm.err)" "1001 packets by 101 doorbells: 9.9 a doorbell, at most 10"
