#!/usr/bin/env bash
# run.sh CTEST_OPTION...: tests of this suite's build folder, in a root of script/rocm: RTL as the machine outside has built it, with
# programs that were compiled here, against this suite's runtime. Tests of functions are of what was built here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tests/rocm/tested.sh
RTL_TEST_BUILD=$PWD/build/tested exec ctest --test-dir build --output-on-failure --no-tests=error --timeout 300 "$@"
