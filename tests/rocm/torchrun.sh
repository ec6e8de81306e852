#!/usr/bin/env bash
# torchrun.sh: ranks that PyTorch's own torchrun has started, of the PyTorch that forky has, which add up by gloo and run HIP's
# kernels: in one trace around torchrun and in one each, every kernel of every rank under its rank. Runs in a root of script/rocm; the packages are those of torch.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=$PWD
rtl=/rtl-build/bin/rtl

fail() {
    echo "torchrun.sh: $*" >&2
    tail -n 15 ./*.log >&2 || true
    exit 1
}

source tests/rocm/packages.sh
install_packages python3-torch libtorch-dev libfmt-dev python3-pip
cd "$(mktemp -d)"
export PYTHONDONTWRITEBYTECODE=1 SOFTGPU_PLUGINS=/rtl-build/tests/lib/libsoftgpu_hip_plugin.so OMP_NUM_THREADS=1
export USE_LIBUV=0 # Debian's PyTorch has none
HIP_PLATFORM=amd hipcc --offload-arch=gfx906 -std=c++17 -O2 -shared -fPIC "$here/tests/kineto/torch_work.hip" -o libtorch_work.so
torchrun=(timeout 120 /usr/bin/python3 "$here/tests/rocm/torchrun.py" --standalone --nproc-per-node=2)
worker=("$here/tests/rocm/torchrun_ranks.py" "$PWD/libtorch_work.so" 20)

# kernels TRACE: pid, rank, kernels of graphs, others, of each process that has some.
kernels() {
    "$rtl" sql "$1" "SELECT p.pid || ' ' || p.rank || ' ' || sum(k.name LIKE 'hip_add%') || ' ' || sum(k.name LIKE 'hip_scale%')
        FROM kernels k JOIN processes p USING(process) GROUP BY p.process ORDER BY 1"
}

# two TRACE LOG: both workers, all of their kernels, their ranks told apart.
two() {
    "$rtl" check "$1" >check.log || fail "$1: the trace is not complete"
    [ "$(kernels "$1")" = "$(sed -n 's/^worker //p' "$2" | sort)" ] || fail "$1 has '$(kernels "$1")', and there were '$(grep ^worker "$2")'"
    [ "$(kernels "$1" | wc -l)" = 2 ] || fail "$1: there are not two workers"
    "$rtl" ranks --json "$1" >ranks.log || fail "$1: rtl ranks ended with status $?"
    [ "$(/usr/bin/python3 -c 'import json; told = json.load(open("ranks.log")); print(told["steps"], [rank["rank"] for rank in told["ranks"]])')" = \
        "20 ['0', '1']" ] || fail "$1: the ranks are not told apart"
}

"$rtl" trace -q -m full --gpu soft -o around.db -- "${torchrun[@]}" "${worker[@]}" >around.log 2>&1 || fail "torchrun ended with status $?"
two around.db around.log

"${torchrun[@]}" --no-python "$rtl" trace -q -m full --gpu soft -- /usr/bin/python3 "${worker[@]}" >each.log 2>&1 || fail "torchrun ended with status $?"
"$rtl" merge each.db trace-0.db trace-1.db >merge.log || fail "the traces could not be merged"
two each.db each.log

echo "torchrun.sh: PyTorch $(/usr/bin/python3 -c 'import torch; print(torch.__version__)'), $(kernels around.db | tr '\n' ',')"
