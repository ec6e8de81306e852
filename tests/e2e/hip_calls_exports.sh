#!/usr/bin/env bash
# hip_calls_exports.sh BUILD LIBRARY: each function that the installed HIP exports is wrapped by librtl.so or named, with
# the reason, in hip_calls.left_out; none is both.
source "$(dirname "$0")/lib.sh"

# The names that a library exports; those of its versions are no functions.
exports() {
    nm -D --defined-only "$1" | awk '$2 ~ /[TWi]/ { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u
}

exports "$1" >hip
exports "$build/lib/librtl.so" >rtl
grep -v -e '^#' -e '^$' "$here/hip_calls.left_out" | LC_ALL=C sort >left_out
[ "$(wc -l <hip)" -gt 300 ] || fail "$1 exports $(wc -l <hip) functions: nm's output was not understood"
LC_ALL=C comm -12 hip rtl >wrapped
LC_ALL=C sort -m wrapped left_out >known
equal "functions that are neither wrapped nor left out" "$(LC_ALL=C comm -23 hip known | head -n 5)" ""
equal "functions that are wrapped and left out" "$(LC_ALL=C comm -12 wrapped left_out | head -n 5)" ""
equal "functions that are left out and not there" "$(LC_ALL=C comm -13 hip left_out | head -n 5)" ""
equal "reasons" "$(awk '/^#/ { reason = 1 } /^$/ { reason = 0 } !/^#|^$/ && !reason' "$here/hip_calls.left_out")" ""
