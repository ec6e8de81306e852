#!/usr/bin/env bash
# rtl_torch.sh BUILD PYTHON: the wheel of script/wheel-torch in a Python whose PyTorch is a stand-in, with the folders, the headers
# and the entry points of the real one: the bridge is built once, taken where it is there, and registered; importing never fails.
source "$(dirname "$0")/../e2e/lib.sh"
python=$1 root=$here/../.. libraries=$build/tests/lib/kineto
unset RTL_QUEUE SOFTGPU_PLUGINS KINETO_PLUGIN_PATH CC CXX
export XDG_CACHE_HOME=$scratch/cache PYTHONDONTWRITEBYTECODE=1 TMPDIR=$scratch
machine=$(uname -m)

# site FOLDER OPTION...: what pip would have installed.
site() {
    local folder=$1
    shift
    "$root/script/wheel-torch" -o "$folder-wheel" "$@" >made || fail "no wheel is made"
    "$python" -m zipfile -e "$(cat made)" "$folder"
}

# torch FOLDER VERSION HEADERS: the stand-in.
torch() {
    mkdir -p "$1/torch/include/kineto" "$1/torch/include/torch/headeronly" "$1/torch/lib"
    echo "__version__ = '$2'" >"$1/torch/version.py"
    echo "#define TORCH_VERSION \"$2\"" >"$1/torch/include/torch/headeronly/version.h"
    cp "$root/tests/kineto/kineto_$3"/*.h "$1/torch/include/kineto"
    cp "$libraries/libstand_in_$3.so" "$1/torch/lib/libtorch_cpu.so"
    cat >"$1/torch/__init__.py" <<END
import ctypes, importlib.metadata, os
from .version import __version__
folder = os.path.dirname(__file__)
# The tests' bridges are linked with no library; those that are built here are.
mode = ctypes.RTLD_GLOBAL if os.path.exists(f"{folder}/../rtl_torch/bridges") else ctypes.DEFAULT_MODE
ctypes.CDLL(f"{folder}/lib/libtorch_cpu.so", mode)
registered = [point.load()() for point in importlib.metadata.entry_points(group="torch.backends")]
END
}

# imported FOLDER WANTED [ENVIRONMENT...]: what the entry points have returned.
imported() {
    local folder=$1 wanted=$2
    shift 2
    env PYTHONPATH="$folder" "$@" "$python" -c 'import torch; print(torch.registered)' >run.out 2>run.err ||
        fail "PyTorch cannot be imported"
    equal "what was registered" "$(cat run.out)" "$wanted"
}

said() {
    grep -qF -- "$1" run.err || fail "'$1' is not said"
    equal "lines that are said" "$(wc -l <run.err)" 1
}

vendor=KINETO_PLUGIN_PATH=$build/lib/kineto/libopenreg.so
site plain
torch plain 2.11.0+cpu 2_11

# Nobody asks for vendors.
imported plain "[0]"
nothing_said run.err
[ ! -e cache ] || fail "something was built that nobody has asked for"

# No compiler; and a cache that others may write to.
imported plain "[-1]" "$vendor" CXX="$scratch/no-compiler"
equal "lines" "$(grep -c '^rtl-torch: ' run.err)" 2
grep -q '^rtl-torch: torch.profiler has no PrivateUse1 vendors: the bridge cannot be built: .*no-compiler: No such file' run.err ||
    fail "it is not said that there is no compiler"
# It is not tried by each process, unless somebody asks for it.
imported plain "[-1]" "$vendor" CXX="$scratch/no-compiler"
said "no-compiler: No such file or directory (less than ten minutes ago; python3 -m rtl_torch tries again)"
! env PYTHONPATH=plain CXX="$scratch/no-compiler" "$python" -m rtl_torch >run.out 2>run.err || fail "a bridge is built by no compiler"
equal "lines of one that tries again" "$(grep -c '^rtl-torch: building the bridge for PyTorch 2.11.0+cpu, once: ' run.err)" 1
chmod 777 cache/rtl-torch
imported plain "[-1]" "$vendor"
said "cache/rtl-torch is another user's, or others may write to it"
chmod 700 cache/rtl-torch

# Three at once: one builds, all have it.
pids=()
for i in 1 2 3; do
    env PYTHONPATH=plain "$vendor" "$python" -c 'import torch; print(torch.registered)' >"many-$i.out" 2>"many-$i.err" &
    pids+=($!)
done
for pid in "${pids[@]}"; do
    wait "$pid" || fail "PyTorch cannot be imported by three processes"
done
equal "what three have registered" "$(sort -u many-?.out)" "[1]"
equal "how often it is built" "$(cat many-?.err | grep -c 'rtl-torch: building the bridge for PyTorch 2.11.0+cpu, once: ')" 1
equal "files in the cache" "$(find cache -name '*.so' | wc -l)" 1
imported plain "[1]" "$vendor" CXX="$scratch/no-compiler"
nothing_said run.err
equal "where it is" "$(PYTHONPATH=plain "$python" -m rtl_torch)" "$(find "$scratch/cache" -name "2.11.0_cpu-$machine-*.so")"

# One that is in the wheel; one for another PyTorch is not used.
site ready --bridge "2.15=$libraries/libbridge_2026_08.so" --bridge "2.11=$libraries/libbridge_2026_08.so"
grep -q "/rtl_torch-[0-9.]*-py3-none-manylinux_2_[0-9]*_$machine[.]whl$" made || fail "the wheel is called $(cat made)"
torch ready 2.15.1 2026_08
imported ready "[1]" "$vendor" CXX="$scratch/no-compiler"
nothing_said run.err
torch ready 2.11.0 2_11
imported ready "[-1]" "$vendor"
said "kineto_privateuse1: the bridge was built for PyTorch 2.15.0"

# Options of the script.
refused() {
    ! "$root/script/wheel-torch" -o refused --bridge "$1" >run.out 2>run.err || fail "--bridge $1 is taken"
    said "$2"
    [ ! -e refused ] || fail "something was written"
}
refused 2.14 "wheel-torch: --bridge 2.14: wanted is a version and a file"
refused "2.14=$scratch/none.so" "none.so is no file"
