#!/usr/bin/env bash
# version.sh BUILD PYTHON: the bridge, built for PyTorch 2.11.0, in a Python that says that it has another PyTorch, or none.
source "$(dirname "$0")/../e2e/lib.sh"
python=$1
unset RTL_QUEUE SOFTGPU_PLUGINS
export KINETO_PLUGIN_PATH=$build/lib/kineto/libopenreg.so LD_PRELOAD=$build/tests/lib/kineto/libstand_in_2_11.so
export PYTHONPATH=$scratch bridge=$build/tests/lib/kineto/libbridge_2_11.so
mkdir torch
program="import ctypes, os, sys
if len(sys.argv) > 1: import torch
library = ctypes.CDLL(os.environ['bridge'])
library.pu1KinetoBuiltFor.restype = ctypes.c_char_p
assert library.pu1KinetoBuiltFor().startswith(b'PyTorch 2.11.0, Kineto ')
print(library.pu1KinetoRegister())"

# registered WANTED [VERSION]
registered() {
    echo "__version__ = '${2:-}'" >torch/__init__.py
    "$python" -c "$program" ${2:+torch} >run.out 2>run.err || fail "${2:-no PyTorch}: the program ended with status $?"
    equal "vendors with ${2:-no PyTorch}" "$(cat run.out)" "$1"
}

registered 1
for version in 2.11.0+cu130 2.11.1 2.11.0a0+git1234567 strange; do
    registered 1 $version
    nothing_said run.err
done
for version in 2.14.1 2.1.1 3.11.0; do
    registered -1 $version
    grep -q "^kineto_privateuse1: the bridge was built for PyTorch 2.11.0, Kineto .*, and this is PyTorch $version: it is not used" \
        run.err || fail "$version: the mismatch is not said"
    equal "lines with $version" "$(wc -l <run.err)" 1
done
echo "__version__ = 5" >torch/__init__.py
equal "vendors with a number" "$("$python" -c "$program" torch)" 1
