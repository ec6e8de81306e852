# shellcheck shell=bash
# rtl bench end to end on the software GPU, small; sourced by the scripts that run it, with the build folder as first argument. No
# time is asserted but one that a sleep makes sure of.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../common/rocr.sh"
work=$build/bin/rtl-bench-work
unset SOFTGPU_PLUGINS SOFTGPU_TRUTH RTL_QUEUE

# bench STATUS OPTION...: measures, with JSON in bench.out.
bench() {
    local wanted=$1 status=0
    shift
    "$rtl" bench -q -j --gpu soft "$@" >bench.out 2>bench.err || status=$?
    equal "status of 'rtl bench $*'" "$status" "$wanted"
}

# of TOOL EXPRESSION: of the first workload, in Python, with `tool`, `workload` and `result`.
of() {
    python3 - "$1" "$2" <<'END'
import json, sys
result = json.load(open("bench.out"))
workload = result["workloads"][0]
tool = {t["tool"]: t for t in workload["tools"]}[sys.argv[1]]
print(eval(sys.argv[2]))
END
}
