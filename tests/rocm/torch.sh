#!/usr/bin/env bash
# torch.sh: torch.profiler of the PyTorch that forky has, with vendors of PrivateUse1 tracing: OpenReg, a vendor with the worst texts,
# RTL over a HIP program, and vendors that are missing or broken. The bridge comes from the wheel of script/wheel-torch (build/wheel,
# made by the machine outside), which builds it for this PyTorch. Runs in a root of script/rocm. The packages are installed once
# (150 MB to download) and stay in the root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=$PWD
packages=(python3-torch libtorch-dev libfmt-dev python3-pip)

fail() {
    echo "torch.sh: $*" >&2
    exit 1
}

source tests/rocm/packages.sh
install_packages "${packages[@]}"
cd "$(mktemp -d)"
/usr/bin/python3 -m pip install -q --root-user-action ignore --no-index --target site /rtl-build/wheel/rtl_torch-*-py3-none-any.whl ||
    fail "pip does not install the wheel"
export PYTHONPATH=$PWD/site PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME=$PWD/cache
export SOFTGPU_PLUGINS=/rtl-build/tests/lib/libsoftgpu_hip_plugin.so
openreg=/rtl-build/lib/kineto/libopenreg.so
fakes=/rtl-build/tests/lib/kineto

# profiled CASE LIBRARY [ENVIRONMENT...]
profiled() {
    local case=$1 library=$2
    shift 2
    env "$@" timeout 300 /usr/bin/python3 "$here/tests/kineto/torch_profile.py" "$case" "$library" >run.out 2>run.err || {
        cat run.err >&2
        fail "$case${1:+ with $1}: status $?"
    }
}

# said NUMBER TEXT: so many lines of ours, and this among them.
said() {
    grep -qF -- "$2" run.err || fail "'$2' is not said: $(cat run.err)"
    [ "$(grep -c -e '^rtl-torch: ' -e '^kineto_privateuse1: ' run.err)" = "$1" ] || fail "more is said: $(cat run.err)"
}

/usr/bin/python3 -c 'import torch; print("torch.sh: PyTorch", torch.__version__)'
[ ! -e cache ] || fail "something was built that nobody has asked for"
/usr/bin/python3 -m rtl_torch >bridge
for case in steps sessions autograd threads empty ranks; do
    profiled $case $openreg KINETO_PLUGIN_PATH=$openreg
    ! grep -e '^rtl-torch: ' -e '^kineto_privateuse1: ' run.err || fail "$case: something is said"
done
profiled worst $openreg KINETO_PLUGIN_PATH=$openreg:$fakes/worst_vendor.so
profiled none $openreg
profiled none $openreg KINETO_PLUGIN_PATH="$PWD/none.so"
said 1 "none.so could not be loaded: No such file"
profiled none $openreg KINETO_PLUGIN_PATH=$fakes/fake_major.so
said 1 "fake_major.so is for version 2.1 of PrivateUse1 tracing"
profiled none $openreg KINETO_PLUGIN_PATH=$fakes/fake_half.so
said 1 "fake_half.so has registered without all of its functions"
profiled none $openreg KINETO_PLUGIN_PATH=$openreg CXX="$PWD/no-compiler" XDG_CACHE_HOME="$PWD/other"
said 2 "the bridge cannot be built"

# A bridge that was built with the headers of another Kineto is not used.
cmake -G Ninja -S "$here/src/kineto" -B other-bridge -DKINETO_INCLUDE_DIR="$here/tests/kineto/kineto_2_11" \
    -DKINETO_LIBRARY=/usr/lib/x86_64-linux-gnu/libtorch_cpu.so >cmake.out
cmake --build other-bridge --target kineto_privateuse1 >build.out
mkdir site/rtl_torch/bridges
minor=$(/usr/bin/python3 -c 'import torch; print(".".join(torch.__version__.split(".")[:2]))')
cp other-bridge/libkineto_privateuse1.so "site/rtl_torch/bridges/$minor-$(uname -m).so"
profiled none $openreg KINETO_PLUGIN_PATH=$openreg
said 1 "GenericTraceActivity has "
rm -r site/rtl_torch/bridges

HIP_PLATFORM=amd hipcc --offload-arch=gfx906 -std=c++17 -O2 -shared -fPIC "$here/tests/kineto/torch_work.hip" -o libtorch_work.so
profiled graphs "$PWD/libtorch_work.so" KINETO_PLUGIN_PATH=/rtl-build/lib/librtl.so RTL_KINETO=1 \
    LD_PRELOAD=/rtl-build/lib/librtl.so:/rtl-build/lib/softgpu/libsoftgpu.so
