# shellcheck shell=bash
# Shared by the scripts of this folder; sourced, not run.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

jobs=${RTL_JOBS:-$(nproc)}

# Ends with one sentence.
die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# A headline on stderr, in colour on a terminal.
say() {
    if [ -t 2 ]; then
        printf '\033[1m== %s\033[0m\n' "$*" >&2
    else
        printf '== %s\n' "$*" >&2
    fi
}

# configure_preset PRESET FOLDER: configures a preset in its folder. RTL_CMAKE_ARGS goes to cmake.
# A folder that another generator configured is not ours to change. Compilers answer from ccache where it is installed: tests
# compile the product's files again, and so does the next change.
configure_preset() {
    local preset=$1 dir=$2
    if command -v ccache >/dev/null; then
        export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER-ccache}
        export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
    fi
    if [ -f "$dir/CMakeCache.txt" ] && [ ! -f "$dir/build.ninja" ]; then
        die "$dir was configured for another generator than Ninja; move it away and start again"
    fi
    mkdir -p "$dir"
    # shellcheck disable=SC2086 # several arguments
    cmake --preset "$preset" ${RTL_CMAKE_ARGS:-} >"$dir/configure.log" 2>&1 || {
        cat "$dir/configure.log"
        return 1
    }
}

# build_preset PRESET FOLDER [TARGET…]: configures it, and builds the targets, all if none.
build_preset() {
    local preset=$1 dir=$2
    shift 2
    configure_preset "$preset" "$dir" && cmake --build "$dir" -j "$jobs" ${1:+--target "$@"}
}
