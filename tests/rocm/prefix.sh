#!/usr/bin/env bash
# prefix.sh: RTL builds against a ROCm in a prefix of its own, as AMD's packages make one (/opt/rocm). Runs in a root of
# script/rocm, whose mounts are its own: what Debian has is put below the prefix, and is gone from where it was.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
prefix=/tmp/rocm
libraries=lib/x86_64-linux-gnu
paths=(include/{hip,hsa} "$libraries"/cmake/{hip,hsa-runtime64})
for path in "${paths[@]}" "$libraries"/lib{amdhip64,hsa-runtime64}.so; do
    [ -e "/usr/$path" ] || continue
    mkdir -p "$prefix/${path%/*}"
    cp -a "/usr/$path"* "$prefix/${path%/*}"
done
for path in "${paths[@]}"; do
    [ ! -f "/usr/$path" ] || mount --bind /dev/null "/usr/$path"
    [ ! -d "/usr/$path" ] || mount -t tmpfs tmpfs "/usr/$path"
done

cmake -G Ninja -B build/prefix -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_PREFIX_PATH="$prefix" -DRTL_TESTS=OFF \
    -DRTL_SOFTGPU=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
# What includes the runtime's headers.
cmake --build build/prefix -j "${RTL_JOBS:-$(nproc)}" --target librtl rtl rtlprobe
for name in HIP_INCLUDE hsa-runtime64_DIR; do
    grep -q "^$name:[A-Z]*=$prefix/" build/prefix/CMakeCache.txt || {
        echo "prefix.sh: $name is not below $prefix" >&2
        exit 1
    }
done
