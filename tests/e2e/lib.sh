# shellcheck shell=bash disable=SC2034
# Shared by the end-to-end scripts; sourced with the build folder as first argument. RTL_TEST_BUILD is another one that is
# tested in its place (tests/rocm/run.sh).
set -euo pipefail
build=${RTL_TEST_BUILD:-$1}
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
# is no leak; hsa_storm, which gives everything back, is looked at. The front of the software GPU, which has no sanitizer built in,
# may stand before the sanitizer's library.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:handle_segv=0:handle_abort=0:detect_leaks=0:verify_asan_link_order=0
find_leaks=(env "ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=1")
export LSAN_OPTIONS=${LSAN_OPTIONS:-}:suppressions=$here/../lsan.supp:print_suppressions=0

# What LD_PRELOAD gets for a program that is to find the software GPU.
soft=${E2E_SANITIZER:+$E2E_SANITIZER:}$build/lib/softgpu/libsoftgpu.so

# HIP programs have no sanitizer built in. Where librtl and the software GPU have one, its runtime (E2E_SANITIZER) has to be
# there from the start: "${hip[@]}" stands in front of such a program, "${hip_traced[@]}" in front of the rtl that starts it.
hip=() hip_traced=()
if [ -n "${E2E_SANITIZER:-}" ]; then
    hip=(env "LD_PRELOAD=$soft")
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

# The release of ROCr's library that programs here get, and what it makes of an intercept queue
# (src/intercept/queue/intercept_abi.h).
source "$here/../common/rocr.sh"
rocr=$(rocr_of "$bin/hsa_storm")
intercept_generation=$([ "$rocr" -ge 18 ] && echo G2 || echo G1)
# The model of an intercept queue stands in front of the runtime's.
[ -z "${E2E_TOOLS:-}" ] || intercept_generation=${MODEL_GENERATION:-$intercept_generation}

# skip_what_is_refused MODE: by interception full mode is refused where a batch overflows the intercept queue's staging buffer
# (tests/e2e/refused.sh).
skip_what_is_refused() {
    [ "$way" = intercept ] && [ "$intercept_generation" = G2 ] && [ "$1" = full ] || return 0
    echo "full mode is refused by interception on this runtime: skipped"
    exit 77
}
# skip_without_counters: kernels' counters are read by packets of RTL's own, in queues that are followed by interception in full mode.
skip_without_counters() {
    [ "$intercept_generation" = G2 ] || return 0
    echo "full mode, and with it hardware counters, is refused by interception on this runtime: skipped"
    exit 77
}
[ -z "${E2E_QUEUE:-}" ] || skip_what_is_refused "${E2E_MODE:-full}"

# without_remarks FILE...: takes out what runtimes say of themselves. HIP 5.2: when it waits for signals of its own, as often as its
# device is far enough behind, which is how busy the machine is. ROCr from 6.1 on: at the end of a program that gives nothing
# back, how many signals there are, RTL's among them.
without_remarks() {
    sed -i '/Use of non-host signal in host signal wait API/d' "$@"
    [ "$rocr" -lt 13 ] || sed -i '/Resource leak detected by SharedSignalPool/d' "$@"
}

# nothing_said FILE [WHAT]: the program, whose stderr that is, has said nothing.
nothing_said() {
    without_remarks "$1"
    [ ! -s "$1" ] || fail "something was printed on stderr${2:+ ($2)}"
}

# in_shape LIBRARY: from now on rtl uses the librtl of tests/lib that is named so.
in_shape() {
    mkdir -p shape/bin shape/lib
    cp "$build/bin/rtl" shape/bin/
    cp "$build/tests/lib/$1" shape/lib/librtl.so
    ln -sfn "$build/lib/softgpu" shape/lib/softgpu
    rtl=$scratch/shape/bin/rtl
}

# another_process TRACE: a copy's process becomes another one, of the same pid: rtl merge takes none twice.
another_process() {
    another=$((another + 10000000000))
    sqlite3 "$1" "UPDATE processes SET start = start + $another, end = end + $another; DROP TABLE IF EXISTS digests; DELETE FROM meta WHERE key = 'digests'"
}
another=0

# Rows of a query, or one value.
# noted FILE TEXT: of how many processes the notes in what rtl check has said say so, those in whose line it is said included.
noted() {
    grep "^  note: process [0-9]* .*$2" "$1" | sed 's/.*(the same holds[^0-9]* \([0-9]*\) more process.*/\1/; t; s/.*/0/' |
        awk '{ sum += $1 + 1 } END { print sum + 0 }'
}

ask() {
    "$rtl" sql "$1" "$2"
}

# hears_openers: whether the kernel tells this user who makes a process, and who opens a file.
hears_openers() {
    /usr/bin/python3 - <<'END'
import ctypes, os, socket, sys
FAN_NONBLOCK_REPORT_FID, NETLINK_CONNECTOR, INITIAL = 0x202, 11, "pid:[4026531836]"
try:
    socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_CONNECTOR).close()
except OSError:
    sys.exit(1)
if os.getuid() != 0:  # others hear that a file was opened, and not by whom
    sys.exit(1)
sys.exit(ctypes.CDLL(None).fanotify_init(FAN_NONBLOCK_REPORT_FID, 0) < 0 or os.readlink("/proc/self/ns/pid") != INITIAL)
END
}
