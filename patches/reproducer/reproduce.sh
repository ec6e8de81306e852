#!/usr/bin/env bash
# reproduce.sh BUILD GENERATION COUNT OUTCOME: COUNT packets across the wrap under passthrough.so. GENERATION is one
# of the model's, or `real` for the installed runtime. OUTCOME: `passes`, or what stands on stderr at the failure. Of an
# installed runtime whose staging buffer is too small for COUNT packets nothing is asked but that it fails.
source "$(dirname "$0")/../../tests/e2e/lib.sh"
generation=$1 count=$2 outcome=$3
staging_buffer=256
if [ "$generation" = real ] && [ "$intercept_generation" = G2 ] && [ "$count" -gt "$staging_buffer" ]; then
    outcome=overflows
fi
tools=$build/tests/lib/passthrough.so
if [ "$generation" != real ]; then
    tools="$build/tests/lib/intercept_model.so $tools"
    export MODEL_GENERATION=$generation MODEL_REPORT=report
fi

status=0
"${find_leaks[@]}" LD_PRELOAD="$soft" HSA_TOOLS_LIB="$tools" HSA_TOOLS_REPORT_LOAD_FAILURE=1 \
    PASSTHROUGH_LOG=calls "$bin/wrap" "$count" >wrap.out 2>wrap.err || status=$?
if [ "$outcome" = passes ]; then
    equal "status" "$status" 0
    equal "output" "$(cat wrap.out)" "$count packets across the end of the ring: each completed once"
    equal "packets that the tool saw" "$(awk '{ n += $3 } END { print n }' calls)" $((2048 - count / 2 + count))
    if [ "$generation" != real ]; then
        largest=$((count > 64 ? count : 64))
        [ "$generation" != G1 ] || largest=1
        equal "the model's account" "$(sed 's/"callbacks": [0-9]*, //' report)" "{\"generation\": \"$generation\", \"queues\": 1, \
\"packets\": $((2048 - count / 2 + count)), \"largest\": $largest, \"overflow\": 0, \"altered\": 0}"
    fi
elif [ "$outcome" = overflows ]; then
    [ "$status" != 0 ] || fail "it passes"
else
    [ "$status" != 0 ] || fail "it passes"
    equal "output" "$(cat wrap.out)" ""
    grep -q -F -- "$outcome" wrap.err || fail "it fails with status $status, not with '$outcome'"
fi
