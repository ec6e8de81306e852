#!/usr/bin/env bash
# install.sh BUILD SOFTGPU: installs into a folder of its own, moves that folder, and uses it there: the tools, and a
# program built with the CMake package and with pkg-config. SOFTGPU is whether the build has the software GPU.
set -euo pipefail
build=$1 softgpu=$2
source_dir=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$scratch/first" >"$scratch/install.log" || fail "cmake --install"
mv "$scratch/first" "$scratch/moved"
prefix=$scratch/moved
libdir=$(dirname "$(find "$prefix" -name librtl.so)")

version=$("$prefix/bin/rtl" --version)
grep -q '^rtl [0-9]' <<<"$version" || fail "the installed rtl says '$version' as its version"
files=()
[ "$softgpu" = OFF ] || files=("$libdir"/softgpu/{libsoftgpu.so,libsoftgpu-device.so,libhsa-amd-aqlprofile64.so})
for file in "${files[@]}" "$libdir/librtltrace.so" "$libdir/librtlsqlite.so" "$libdir/librtlprobe.so" "$libdir/librtlmpi.so" "$prefix/include/rtl/rtl_trace.h" \
    "$libdir/roctx/libroctx64.so.4" "$libdir/roctx/libroctx64.so" "$libdir/roctx/librocprofiler-sdk-roctx.so.1" \
    "$prefix/include/PrivateUse1TracingApi.h" "$libdir/kineto/libopenreg.so" "$libdir/libpu1host.so" \
    "$prefix/include/softgpu/plugin.h" "$prefix/share/man/man1/rtl.1" "$prefix/share/rtl/fleet/runs.sql" \
    "$prefix/lib/python3/dist-packages/rtl/__init__.py"; do
    [ -e "$file" ] || fail "$file was not installed"
done

# A trace made by the installed tools on the installed software GPU, for the programs to read; without that, the golden one
# of 609 kernels (tests/golden/golden_cases.c).
unset HSA_TOOLS_LIB LD_LIBRARY_PATH LD_PRELOAD
if [ "$softgpu" = OFF ]; then
    kernels="609 kernels"
    sqlite3 "$scratch/t.db" <"$source_dir/../golden/trace-1.0.sql"
else
    kernels="500 kernels"
    SOFTGPU_PLUGINS=$build/tests/lib/e2e_plugin.so "$prefix/bin/rtl" trace -q -m full --gpu soft -o "$scratch/t.db" -- \
        "$build/tests/bin/hsa_storm" --dispatches 500 >/dev/null || fail "the installed rtl trace"
fi

cmake -G Ninja -S "$source_dir/consumer" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/cmake.log" 2>&1 &&
    cmake --build "$scratch/cmake" >>"$scratch/cmake.log" 2>&1 || {
    cat "$scratch/cmake.log" >&2
    fail "the CMake package"
}
[ "$("$scratch/cmake/consumer" "$scratch/t.db")" = "$kernels" ] || fail "the program built with CMake"

export PKG_CONFIG_PATH=$libdir/pkgconfig
# shellcheck disable=SC2046 # several arguments
cc -o "$scratch/consumer" "$source_dir/consumer/main.c" $(pkg-config --cflags --libs rtltrace) || fail "rtltrace.pc"
[ "$(LD_LIBRARY_PATH=$libdir "$scratch/consumer" "$scratch/t.db")" = "$kernels" ] || fail "the program built with pkg-config"

# The Python module finds the reader of the prefix that it lies in.
[ "$(PYTHONPATH=$prefix/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c \
    'import rtl, sys; print(len(rtl.open(sys.argv[1]).kernels(["id"])), "kernels")' "$scratch/t.db")" = "$kernels" ] || fail "the Python module"

# The control interface is there for who links it.
[ "$(pkg-config --modversion rtl)" = "${version#rtl }" ] || fail "rtl.pc has another version than rtl"
