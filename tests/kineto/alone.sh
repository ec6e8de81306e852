#!/usr/bin/env bash
# alone.sh BUILD PYTHON: the bridge is built where there is nothing but PyTorch, its own sources and a compiler.
source "$(dirname "$0")/../e2e/lib.sh"
python=$1 root=$here/../..
unset RTL_QUEUE SOFTGPU_PLUGINS KINETO_PLUGIN_PATH CFLAGS CXXFLAGS
mkdir -p rtl/src rtl/include torch/include/kineto torch/include/torch/headeronly torch/lib
cp -r "$root/src/kineto" rtl/src
cp "$root/include/PrivateUse1TracingApi.h" rtl/include
quiet=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS=-Werror -DCMAKE_C_FLAGS=-Werror)
for package in hsa-runtime64 PkgConfig ZLIB; do
    quiet+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done

# Where a Python has no PyTorch, or one without headers, that is said.
refused() {
    local sentence=$1
    shift
    ! cmake -S rtl/src/kineto -B refused "${quiet[@]}" "$@" >cmake.out 2>cmake.err || fail "$* is configured"
    tr -s ' \n' ' ' <cmake.err | grep -qF -- "$sentence" || fail "$*: the sentence is not said"
    rm -r refused
}
refused "python-of-nobody has no PyTorch: -DPYTHON=FILE names another Python" -DPYTHON=python-of-nobody
touch torch/__init__.py
export PYTHONPATH=$scratch
[ -e /usr/include/kineto/libkineto.h ] || refused "torch has no headers of Kineto" "-DPYTHON=$python"

# A wheel's folders, with the headers of the project's own.
echo '#define TORCH_VERSION "2.11.7"' >torch/include/torch/headeronly/version.h
cp "$root"/tests/kineto/kineto_2_11/*.h torch/include/kineto
cp "$build/tests/lib/kineto/libstand_in_2_11.so" torch/lib/libtorch_cpu.so
cmake -S rtl/src/kineto -B alone "${quiet[@]}" "-DPYTHON=$python" >cmake.out 2>cmake.err || fail "nothing is configured"
cmake --build alone -j 2 --target kineto_privateuse1 >build.out 2>build.err || fail "nothing is built"
KINETO_PLUGIN_PATH=$build/lib/kineto/libopenreg.so "$bin/bridge_driver_2_11" alone/libkineto_privateuse1.so trace >run.out 2>run.err ||
    fail "the program ended with status $?"
nothing_said run.err
"$python" -c "import ctypes, sys
ctypes.CDLL('$PWD/torch/lib/libtorch_cpu.so', ctypes.RTLD_GLOBAL)
library = ctypes.CDLL('$PWD/alone/libkineto_privateuse1.so')
library.pu1KinetoBuiltFor.restype = ctypes.c_char_p
sys.exit(not library.pu1KinetoBuiltFor().startswith(b'PyTorch 2.11.7, '))" || fail "the version in the headers is not told"
