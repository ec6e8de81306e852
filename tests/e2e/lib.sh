# shellcheck shell=bash disable=SC2034
# Shared by the end-to-end scripts; sourced with the build folder as first argument.
set -euo pipefail
build=$1
shift
bin=$build/tests/bin
rtl=$build/bin/rtl
export SOFTGPU_PLUGINS=$build/tests/lib/e2e_plugin.so
unset HSA_TOOLS_LIB LD_PRELOAD LD_LIBRARY_PATH RTL_MODE RTL_OUTPUT RTL_SESSION RTL_QUEUE RTL_DEBUG SOFTGPU_TRUTH

# The way into queues that a test is about: E2E_QUEUE=interpose (when absent) or intercept.
way=${E2E_QUEUE:-interpose}
export RTL_QUEUE=$way

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# In a sanitizer build a crash must stay the crash it is, and what a program that just ends leaves behind
# is no leak; hsa_storm, which gives everything back, is looked at.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:handle_segv=0:handle_abort=0:detect_leaks=0
find_leaks=(env "ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=1")
export LSAN_OPTIONS=${LSAN_OPTIONS:-}:suppressions=$here/../lsan.supp:print_suppressions=0

# HIP programs have no sanitizer built in. Where librtl and the software GPU have one, its runtime (E2E_SANITIZER) has to be
# there from the start: "${hip[@]}" stands in front of such a program, "${hip_traced[@]}" in front of the rtl that starts it.
hip=() hip_traced=()
if [ -n "${E2E_SANITIZER:-}" ]; then
    hip=(env "LD_PRELOAD=$E2E_SANITIZER")
    hip_traced=(env "LD_PRELOAD=$E2E_SANITIZER:$build/lib/librtl.so")
fi

scratch=$(mktemp -d)
trap 'leave $? "$BASH_COMMAND"' EXIT
cd "$scratch"

# ThreadSanitizer reads one file of suppressions only, the one named last.
cat "$here/../tsan.supp" "$here/tsan.supp" >tsan.supp
export TSAN_OPTIONS=${TSAN_OPTIONS:-}:handle_segv=0:handle_abort=0:die_after_fork=0:suppressions=$scratch/tsan.supp

# tell WHAT: what failed, and what the programs said before, which is why.
told=
tell() {
    local file
    told=1
    echo "FAILED: $*" >&2
    for file in "$scratch"/*.err "$scratch"/*.out; do
        [ ! -s "$file" ] || { echo "--- ${file##*/}"; head -n 40 "$file"; } >&2
    done
}

fail() {
    tell "$@"
    exit 1
}

# leave STATUS COMMAND: at the end; a command that nobody expected to fail ends the script, too.
leave() {
    [ "$1" = 0 ] || [ "$1" = 77 ] || [ -n "$told" ] || tell "status $1 of: $2"
    # A collector that librtl.so has started may be at its last file.
    rm -rf "$scratch" 2>/dev/null || { sleep 2 && rm -rf "$scratch"; }
}

# equal WHAT GOT WANTED
equal() {
    [ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"
}

# without_waits FILE...: takes out what Debian's HIP 5.2 says when it waits for signals of its own, as often as its device is far
# enough behind, which is how busy the machine is.
without_waits() {
    sed -i '/Use of non-host signal in host signal wait API/d' "$@"
}

# in_shape LIBRARY: from now on rtl uses the librtl of tests/lib that is named so.
in_shape() {
    mkdir -p shape/bin shape/lib
    cp "$build/bin/rtl" shape/bin/
    cp "$build/tests/lib/$1" shape/lib/librtl.so
    ln -sfn "$build/lib/softgpu" shape/lib/softgpu
    rtl=$scratch/shape/bin/rtl
}

# Rows of a query, or one value.
# noted FILE TEXT: of how many processes the notes in what rtl check has said say so, those in whose line it is said included.
noted() {
    grep "^  note: process [0-9]* .*$2" "$1" | sed 's/.*(the same holds for \([0-9]*\) more process.*/\1/; t; s/.*/0/' |
        awk '{ sum += $1 + 1 } END { print sum + 0 }'
}

ask() {
    "$rtl" sql "$1" "$2"
}
