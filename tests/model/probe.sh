#!/usr/bin/env bash
# probe.sh BUILD GENERATION: what a tool finds out about intercept queues, and that the device gets nothing to
# do from it. GENERATION `real` is the installed runtime itself.
source "$(dirname "$0")/../e2e/lib.sh"
wanted=$1
tools=$build/tests/lib/probe_tool.so
if [ "$wanted" = real ]; then
    wanted=$intercept_generation
else
    tools="$build/tests/lib/intercept_model.so $tools"
    export MODEL_GENERATION=$wanted
fi

env "ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=1" LD_PRELOAD="$soft" SOFTGPU_DEVICES=2 SOFTGPU_TRUTH=truth \
    HSA_TOOLS_LIB="$tools" HSA_TOOLS_REPORT_LOAD_FAILURE=1 PROBE_REPORT=report "$bin/model_start" >start.out 2>start.err ||
    fail "the program ended with status $?"
[ -s truth ] || fail "there is no truth log"
without_remarks start.err
[ -s start.err ] && fail "somebody complained"
equal "generation on both GPUs" "$(paste -s -d' ' report)" "$(printf '%s %s' "$wanted" "$wanted" | sed 's/UNSTAGED/unstaged/g')"
equal "packets that the device executed" "$("$build/bin/softgpu-run" --truth truth | grep -c -E 'barrier|kernel|dispatch')" 0
