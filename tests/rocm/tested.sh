#!/usr/bin/env bash
# tested.sh: in a root of script/rocm, makes build/tested: a build folder whose programs of HIP and of the tests are this
# suite's, and all else as the machine outside has built it (/rtl-build), the program of the self-test included, which opens
# HIP. rtl finds what belongs to it by its own place.
set -euo pipefail
build=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../build" && pwd)
rm -rf "$build/tested"
mkdir -p "$build/tested/bin"
cp /rtl-build/bin/{rtl,rtl-selftest-work,softgpu-run} "$build/tested/bin"
for program in rtl-demo-decode rtl-bench-work; do
    [ ! -e "$build/bin/$program" ] || cp "$build/bin/$program" "$build/tested/bin"
done
ln -s /rtl-build/lib "$build/tested/lib"
ln -s "$build/tests" "$build/tested/tests"
