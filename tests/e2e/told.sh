#!/usr/bin/env bash
# told.sh BUILD PLUGIN MODE PROGRAM ENDS WAY...: what a program was told is done is in the trace, with names and exact times, however the program
# ends in the next moment (ENDS, with commas; `-`: as it always does), and the verdict is that nothing is missing. The worker, which else
# would hand it over some time later, is held back for 100 ms at a time, or for good with launches in hand (RTL_TEST_STALL).
source "$(dirname "$0")/lib.sh"
plugin=$1 mode=$2 program=$3 ends=${4//,/ }
shift 4
[ "$plugin" = - ] || export SOFTGPU_PLUGINS=$plugin
in_shape librtl-starved.so

# states END: how the trace says that processes ended; all of those that ran kernels did so in the same way. What calls _exit is
# known where librtl.so is preloaded, and a signal tells nothing.
states() {
    case $1 in
    exit | spawn) echo closed ;; # as interpreters end
    quick_exit) echo exited ;;
    _exit | fork | forkserver) [ "$mode" = full ] && [ "${RTL_PRELOAD:-on}" = on ] && echo exited || echo died ;;
    *) echo died ;;
    esac
}

# look WAY END: the trace of this run.
look() {
    local kernels launches file logs=(truth-*) executed=0 left=0 ended said
    read -r kernels launches <told.out || fail "$1, $2: the program did not say what it waits for"
    for file in "${logs[@]}"; do
        executed=$((executed + $("$build/bin/softgpu-run" --truth "$file" | grep -cE 'hip_lasts|storm_')))
    done
    equal "$1, $2: kernels executed" "$executed" "$kernels"
    # One process: kernel by kernel.
    [ ${#logs[@]} -gt 1 ] || truth=(--truth "${logs[0]}")
    "$rtl" check "${truth[@]}" t.db >check.out 2>check.err || fail "$1, $2: rtl check ended with status $?"
    # Mode standard leaves out batches, which HIP makes of replays from 7 on.
    [ "$mode" = full ] || left=$(ask t.db "SELECT sum(skipped) FROM ledger WHERE what = 'kernels'")
    equal "$1, $2: kernels in the trace" "$(ask t.db "SELECT count(*) FROM kernels WHERE name LIKE '%hip_lasts%' OR name LIKE 'storm_%'")" \
        "$((kernels - left))"
    [ "$mode" != full ] || [ "$launches" = - ] || equal "$1, $2: launches in the trace" "$(ask t.db "SELECT count(*) FROM graph_launches")" "$launches"
    ended=$(states "$([ "$2" = - ] && echo "$1" || echo "$2")")
    equal "$1, $2: how it ended" "$(ask t.db "SELECT DISTINCT state FROM processes WHERE process IN (SELECT process FROM kernels)")" "$ended"
    [ "$(states "$2")" != exited ] || ! head -n 1 check.out | grep -q 'ended\|died' || fail "$1, $2: the verdict says more than is known"
    # Host calls that were under way are spoken of where there may be some.
    [ "$mode" = full ] && [ "$plugin" != - ] && [ "$ended" = died ] && said=1 || said=0
    equal "$1, $2: lines on host calls under way" "$(grep -c 'host calls that had not returned' check.out || true)" "$said"
    equal "$1, $2: what is missing" \
        "$(ask t.db "SELECT sum(seen) - sum(recorded) FROM (SELECT DISTINCT process, queue, seen, recorded FROM ledger)")" "$left"
}

for way; do
    for end in $ends; do
        rm -f truth-*
        truth=()
        arguments=("$way")
        [ "$end" = - ] || arguments+=("$end")
        SOFTGPU_TRUTH=truth-%p "$bin/outcome" told.end "$rtl" trace -q -f -m "$mode" --gpu soft -o t.db -- "$program" "${arguments[@]}" \
            >told.out 2>told.err || fail "$way, $end: rtl trace ended with status $?"
        look "$way" "$end"
    done
done
