#!/usr/bin/env bash
# run.sh CTEST_OPTION...: tests of this suite's build folder, in a root of script/rocm, of RTL as the machine outside has
# built it (/rtl-build), with programs that were compiled here, against this suite's runtime.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$PWD/build
export RTL_TEST_BUILD=$build/tested

# A build folder whose programs of HIP and of the tests are this suite's, and all else the machine's. rtl finds what belongs
# to it by its own place.
rm -rf "$RTL_TEST_BUILD"
mkdir -p "$RTL_TEST_BUILD/bin"
cp /rtl-build/bin/{rtl,softgpu-run} "$build"/bin/{rtl-demo-decode,rtl-bench-work} "$RTL_TEST_BUILD/bin"
ln -s /rtl-build/lib "$RTL_TEST_BUILD/lib"
ln -s "$build/tests" "$RTL_TEST_BUILD/tests"

exec ctest --test-dir "$build" --output-on-failure --no-tests=error --timeout 300 "$@"
