#!/usr/bin/env bash
# hip_calls_preload.sh BUILD PLUGIN: what `rtl trace` preloads into which program, and recording where only the
# environment is set.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1
librtl=$(realpath "$build/lib/librtl.so")
soft_path=$(realpath "$build/lib/softgpu/libsoftgpu.so")

# preloaded MODE [VARIABLE=VALUE...]: LD_PRELOAD as a program sees it.
preloaded() {
    local mode=$1
    shift
    env "$@" "$rtl" trace -q -f -m "$mode" --gpu soft -o t.db -- sh -c 'printf %s "$LD_PRELOAD"' >preloaded.out 2>trace.err || return
    sed -E 's#:?'"$soft_path"'$##' preloaded.out
    grep -q "$soft_path\$" preloaded.out || echo "without the software GPU"
}
other=$build/tests/lib/hip_calls_before.so
another=$build/tests/lib/e2e_plugin.so
equal "in mode full" "$(realpath "$(preloaded full)")" "$librtl"
equal "in mode hip" "$(realpath "$(preloaded hip)")" "$librtl"
equal "in mode standard" "$(preloaded standard)" ""
equal "in mode lite, what was there" "$(preloaded lite LD_PRELOAD="$other")" "$other"
first=$(preloaded full)
equal "with what was there" "$(preloaded full LD_PRELOAD="$other $another")" "$first:$other:$another"
equal "with itself there" "$(preloaded full LD_PRELOAD="$other:$librtl")" "$first:$other"
equal "with RTL_PRELOAD=off" "$(preloaded full RTL_PRELOAD=off)" ""
equal "with RTL_PRELOAD=on" "$(preloaded full RTL_PRELOAD=on)" "$first"
status=0
preloaded full RTL_PRELOAD=perhaps >trace.out || status=$?
equal "status with RTL_PRELOAD=perhaps" "$status" 2
grep -q 'RTL_PRELOAD=perhaps is neither on nor off' trace.err || fail "no sentence about RTL_PRELOAD"

# A program of AddressSanitizer's, which wants to be the first library; its own options stay.
equal "AddressSanitizer" "$(ASAN_OPTIONS=detect_leaks=0 "$rtl" trace -q -f --gpu soft -o t.db -- \
    "$bin/hip_calls_asan" 2>asan.err)" "well, detect_leaks=0"

# Without rtl trace.
LD_PRELOAD=$soft "$bin/hip_calls" >alone.out 2>alone.err || fail "hip_calls failed"
LD_PRELOAD=$librtl:$soft HSA_TOOLS_LIB=$librtl RTL_MODE=full RTL_OUTPUT=$scratch/env.db \
    "$bin/hip_calls" >env.out 2>env.err || fail "hip_calls failed with the environment alone"
cmp -s alone.out env.out || fail "the output differs with the environment alone"
awk '$1 == "made" { print $2 "|" $3 }' alone.out | LC_ALL=C sort >made
for ((i = 0; i < 600; i++)); do # the collector is a process of its own
    "$rtl" check env.db >check.out 2>check.err && break
    sleep 0.1
done
ask env.db "SELECT name, count(*) FROM api GROUP BY name" | LC_ALL=C sort >recorded
cmp -s made recorded || fail "calls recorded are not those made: $(diff made recorded | head -n 5)"
