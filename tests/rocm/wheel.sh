#!/usr/bin/env bash
# wheel.sh: RTL and the software GPU with a ROCm that lies in a Python environment, as AMD's wheels bring it: nothing in /opt/rocm
# or where the dynamic linker looks, libraries below site-packages/_rocm_sdk_core. A program finds them by its run path; Python opens
# them by their paths, one after the other. Runs in a root of script/rocm, whose mounts are its own: what Debian has is put there,
# and is gone from where it was. Each way is run under softgpu-run and under rtl trace, where all kernels must be recorded, as the
# device executed them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=$PWD
tests/rocm/tested.sh
tested=$here/build/tested
libraries=/usr/lib/x86_64-linux-gnu
environment=/tmp/venv
core=$environment/lib/python3/site-packages/_rocm_sdk_core/lib
export SOFTGPU_PLUGINS=$tested/tests/lib/libsoftgpu_hip_plugin.so

fail() {
    echo "wheel.sh: $*" >&2
    exit 1
}

mkdir -p "$core" "$environment/bin"
ln -s /usr/bin/python3 "$environment/bin/python3"
program=/tmp/graphs
HIP_PLATFORM=amd hipcc --offload-arch=gfx906 -std=c++17 -O2 tests/softgpu/hip/graphs.hip -o "$program" \
    -Wl,--disable-new-dtags,-rpath,"$core"
# What others need comes before them.
wheel=()
for name in libhsakmt libhsa-runtime64 libamd_comgr libhiprtc-builtins libamdhip64; do
    for library in "$libraries/$name".so.*; do
        [ -f "$library" ] && [ ! -L "$library" ] || continue
        soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
        cp "$library" "$core/$soname"
        wheel+=("$core/$soname")
        mount --bind /dev/null "$library"
    done
done
HIP_LIBRARY=${wheel[-1]}
export HIP_LIBRARY

# What opens the wheel's libraries and goes on as a script of the tests.
cat >/tmp/open.py <<'EOF'
import ctypes, os, runpy, sys
for path in sys.argv.pop(1).split(":"):
    ctypes.CDLL(path, mode=os.RTLD_GLOBAL | os.RTLD_NOW)
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
EOF

# recorded NAME KERNELS COMMAND...: alone and recorded; at least so many kernels, all of them the truth's.
recorded() {
    local name=$1 least=$2 executed
    shift 2
    cd "$(mktemp -d)"
    "$tested/bin/softgpu-run" "$@" >alone.out || fail "$name: status $? under softgpu-run"
    SOFTGPU_TRUTH=truth "$tested/bin/rtl" trace -q -m full --gpu soft -o t.db -- "$@" >traced.out ||
        fail "$name: status $? under rtl trace"
    cmp alone.out traced.out || fail "$name: another output under rtl trace"
    "$tested/bin/rtl" check --truth truth t.db || fail "$name: the trace is not the truth"
    executed=$("$tested/bin/softgpu-run" --truth truth | grep -c '^kernel') || true
    [ "$executed" -ge "$least" ] || fail "$name: only $executed kernels"
    [ "$("$tested/bin/rtl" sql t.db "SELECT count(*) FROM api WHERE name LIKE 'hip%'")" -gt 0 ] || fail "$name: no host calls"
    cd "$here"
}

recorded "a program with a run path" 100 "$program"
recorded "Python" 40 "$environment/bin/python3" /tmp/open.py "$(IFS=: && echo "${wheel[*]}")" "$here/tests/e2e/hip_calls.py" \
    "$tested/tests/bin/softgpu_module_add.co" "$tested/tests/bin/hip_calls_library.so"
