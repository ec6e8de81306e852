#!/usr/bin/env bash
# exports.sh BUILD: librtl.so and OpenReg export the functions of PrivateUse1TracingApi.h and, of those names, no others;
# the header is valid C11 and C++17 in gcc and clang.
source "$(dirname "$0")/../e2e/lib.sh"
include=$here/../../include
wanted=$(sed -n 's/^PU1_EXPORT [a-zA-Z0-9_ ]*[ *]\(pu1[A-Za-z]*\|kineto_[a-z0-9_]*\)(.*/\1/p' "$include/PrivateUse1TracingApi.h" |
    LC_ALL=C sort)
equal "functions of the header" "$(wc -l <<<"$wanted")" 12
for library in "$build/lib/librtl.so" "$build/lib/kineto/libopenreg.so"; do
    got=$(nm -D --defined-only "$library" | awk '$2 == "T" && $3 ~ /^(pu1|kineto_)/ { print $3 }' | LC_ALL=C sort)
    equal "functions of ${library##*/}" "$got" "$wanted"
done
nm -D --defined-only "$build/lib/libpu1host.so" | awk '$2 == "T" { print $3 }' | LC_ALL=C sort >host
equal "functions of libpu1host.so" "$(paste -sd ' ' <host)" "pu1HostBegin pu1HostEnd pu1HostPop pu1HostPush"

echo '#include <PrivateUse1TracingApi.h>' >header.c
cp header.c header.cpp
warnings=(-Wall -Wextra -Wpedantic -Werror -fsyntax-only "-I$include")
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    $compiler -std=c11 "${warnings[@]}" header.c || fail "the header in C11 by $compiler"
done
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || continue
    $compiler -std=c++17 "${warnings[@]}" header.cpp || fail "the header in C++17 by $compiler"
done
