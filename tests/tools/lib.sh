# shellcheck shell=bash disable=SC2034
# Shared by the scripts of this folder; sourced with the build folder as first argument.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../common/within.sh"
build=${RTL_TEST_BUILD:-$1}
rtl=$build/bin/rtl
soft=$build/lib/softgpu/libsoftgpu.so
unset HSA_TOOLS_LIB LD_PRELOAD LD_LIBRARY_PATH RTL_MODE RTL_OUTPUT RTL_SESSION RTL_BUFFER
# A crash of the recorded program must stay the crash it is.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:handle_segv=0:handle_abort=0:verify_asan_link_order=0 TSAN_OPTIONS=${TSAN_OPTIONS:-}:handle_segv=0:handle_abort=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
    echo "FAILED: $*" >&2
    for file in *.out *.err; do
        [ -s "$file" ] && { echo "--- $file" && head -n 40 "$file"; } >&2
    done
    exit 1
}

# equal WHAT GOT WANTED
equal() {
    [ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"
}
