#!/usr/bin/env bash
# hip_calls_flood.sh BUILD PLUGIN: more host calls than a small ring takes: each is in the trace or in its account of losses, which
# makes the trace incomplete, kernels have room, and the program's output is the same. Then a program that stops and starts recording.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1

# traced WAY [OPTION...]: hip_calls that way, alone and traced.
traced() {
    local way=$1
    shift
    LD_PRELOAD=$soft "$bin/hip_calls" "$way" >alone.out 2>alone.err || fail "hip_calls $way failed"
    "$rtl" trace -q -f "$@" --gpu soft -o t.db -- "$bin/hip_calls" "$way" >traced.out 2>traced.err ||
        fail "hip_calls $way failed when traced"
    cmp -s alone.out traced.out || fail "the output of hip_calls $way differs"
    verdict=0
    "$rtl" check t.db >check.out 2>check.err || verdict=$?
    made=$(awk '$1 == "made" { made += $3 } END { print made }' alone.out)
    recorded=$(ask t.db "SELECT count(*) FROM api")
}

traced flood --buffer 64K
lost=$(ask t.db "SELECT sum(lost) FROM ledger_kinds WHERE kind = 'calls'")
equal "calls recorded or counted as lost" $((recorded + lost)) "$made"
equal "calls that are accounted for" "$(ask t.db "SELECT sum(seen) FROM ledger_kinds WHERE kind = 'calls'")" "$made"
equal "status of rtl check" "$verdict" "$([ "$lost" = 0 ] && echo 0 || echo 1)"
[ "$lost" = 0 ] || grep -q "INCOMPLETE: .* host calls, .* lost (the ring was full)" check.out || fail "rtl check does not say it"
[ "$lost" = 0 ] || [ -n "$(ask t.db "SELECT 1 FROM notes WHERE text LIKE 'from here on host calls are missing%'")" ] ||
    fail "the first loss is not noted"

traced stop
equal "status of rtl check" "$verdict" 0
equal "calls while recording was on" "$recorded" "$made"
equal "their kernels" "$(ask t.db "SELECT count(*) FROM kernels k JOIN api a USING (process, correlation)")" 20
