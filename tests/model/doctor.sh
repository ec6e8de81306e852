#!/usr/bin/env bash
# doctor.sh BUILD: what rtl doctor says of the runtime, of other tools that are asked for, and of an installation without parts.
source "$(dirname "$0")/lib.sh"
rtl=$build/bin/rtl
unset HSA_TOOLS_LIB LD_PRELOAD RTL_SESSION RTL_PRELOAD ROCPROFILER_REGISTER_LIBRARY ROCPROFILER_REGISTER_ENABLED

# finds STATE TOPIC PATTERN [VARIABLE=VALUE...]: there is such a finding; one that is not fine says what to do.
finds() {
    env "${@:4}" "$rtl" doctor --json >doctor.out 2>doctor.err || true
    python3 - "$1" "$2" "$3" <<'END' || fail "rtl doctor does not say '$3' with: ${*:4}"
import json, sys
state, topic, pattern = sys.argv[1:]
report = json.load(open("doctor.out"))
found = [f for f in report["findings"] if f["state"] == state and f["topic"] == topic and pattern in f["finding"]]
sys.exit(not found or any(f["state"] == "problem" and not f["advice"] for f in report["findings"]))
END
}

"$rtl" doctor >plain.out || fail "recording is not possible here"
"$rtl" doctor --json >json.out || fail "rtl doctor --json ended with another status"
equal "modes" "$(python3 -c 'import json; print(*json.load(open("json.out"))["modes"])')" "lite standard hip full"
finds ok "librtl" "librtl.so, version"
counters=libhsa-amd-aqlprofile64.so
case $intercept_generation in
G1)
    finds ok "software GPU" "(G1, by probe)"
    finds ok "software GPU" "by $(realpath "$build/lib/softgpu")/$counters"
    ;;
*)
    finds note "software GPU" "($intercept_generation, by probe) overflow"
    finds note "software GPU" "by $(realpath "$build/lib/softgpu")/$counters, but not in full mode"
    ;;
esac
finds ok "software GPU" "GPU 0: gfx906"
finds note "software GPU" "no hardware counters" SOFTGPU_COUNTERS_FAULT=absent
finds ok "environment" "no other tool"
finds problem "environment" "ROCP_TOOL_LIB=x.so" ROCP_TOOL_LIB=x.so
finds note "environment" "HSA_TOOLS_LIB=x.so" HSA_TOOLS_LIB=x.so
finds note "environment" "LD_PRELOAD=libm.so.6" LD_PRELOAD=libm.so.6
finds problem "environment" "DEBUG_CLR_DIRECT_DOORBELL=1" DEBUG_CLR_DIRECT_DOORBELL=1
finds problem "environment" "DEBUG_HIP_GRAPH_PM4=1" DEBUG_HIP_GRAPH_PM4=1
finds ok "environment" "no other tool" DEBUG_CLR_DIRECT_DOORBELL=0 DEBUG_HIP_GRAPH_PM4=0
finds problem "environment" "ROCPROFILER_REGISTER_LIBRARY=y.so" ROCPROFILER_REGISTER_LIBRARY=y.so
finds ok "environment" "no other tool" ROCPROFILER_REGISTER_LIBRARY=y.so ROCPROFILER_REGISTER_ENABLED=0
finds note "runtime" "leads to the software GPU" LD_PRELOAD="$soft"
[ -e /dev/kfd ] || finds note "driver" "no /dev/kfd"

# The sizes of the tables are those that the installed headers have.
cat >tables.c <<'END'
#include <hsa/hsa_api_trace.h>
#include <stdio.h>
int main(void) { return printf("%zu (core) and %zu", sizeof(CoreApiTable), sizeof(AmdExtTable)) < 0; }
END
ln -s "$(dirname "$(echo '#include <hsa/hsa.h>' | cpp -M - | grep -o '/[^ ]*/hsa/hsa\.h')")" inc # as the header names its neighbours
c++ -x c++ -w -I. -o tables tables.c || fail "the installed headers cannot be read"
finds ok "software GPU" "$(./tables)"

# Each generation of intercept queues; the model stands in front of the runtime's.
for generation in G1 UNSTAGED G2 G3; do
    HSA_TOOLS_LIB="$build/tests/lib/intercept_model.so $build/lib/librtlprobe.so" MODEL_GENERATION=$generation \
        LD_PRELOAD=$soft "$rtl" doctor --probe >probe.out 2>probe.err
    equal "generation of the model" "$(sed -n 's/^generation //p' probe.out)" "${generation/UNSTAGED/unstaged}"
done

# Without its parts, and with a runtime that loads no tools.
mkdir -p lone/bin lone/lib
cp "$rtl" lone/bin/
status=0
lone/bin/rtl doctor >lone.out || status=$?
equal "status without librtl.so" $status 1
grep -q "problem *librtl: librtl.so is not in" lone.out || fail "a missing librtl.so is not found"
grep -q "^modes, not possible here" lone.out || fail "modes are possible without librtl.so"
cp "$build"/lib/librtl.so lone/lib/
ln -s "$build/lib/softgpu" lone/lib/softgpu
: >lone/lib/librtlprobe.so
lone/bin/rtl doctor >lone.out || true
grep -q "problem *software GPU: the runtime does not load tools" lone.out || fail "a runtime that loads no tools is not found"
