#!/usr/bin/env bash
# full_memory.sh BUILD: /dev/shm is full, when a program begins, for good or for a moment, or before rtl does. The ring lives
# on the memory that it has and takes more as soon as there is some; what is lost is said to be lost for want of memory, with
# the folder and the size that is missing; a process that can have no ring has it said why. The program ends as it does alone.
[ "${SHM_OWN:-}" ] || SHM_OWN=1 exec unshare -m "$0" "$@" || exit 77
source "$(dirname "$0")/lib.sh"
mount --make-rprivate / 2>/dev/null && mount -t tmpfs -o size=64m tmpfs /dev/shm || exit 77
storm=("$bin/hsa_storm" --dispatches 600000 --batch 8 --queues 2 --threads 2)
LD_PRELOAD=$soft "${storm[@]}" >alone.out 2>alone.err || fail "the program alone ended with status $?"
without_remarks alone.err

fill() {
    head -c 100M /dev/zero >/dev/shm/filler 2>/dev/null || true
}
export -f fill

# recorded NAME SCRIPT: the program, behind what SCRIPT does.
recorded() {
    rm -f truth /dev/shm/filler
    SOFTGPU_TRUTH=$scratch/truth "$rtl" trace -q -f --gpu soft -o t.db -- bash -c "$2"'; exec "$@"' program "${storm[@]}" \
        >run.out 2>run.err || fail "$1: the program ended with status $?"
    cmp -s run.out alone.out || fail "$1: the program's output is another one"
    without_remarks run.err
    equal "$1: what the program says" "$(grep -v '^rtl: ' run.err || true)" "$(cat alone.err)"
    status=0
    "$rtl" check t.db >check.out 2>&1 || status=$?
    equal "$1: what is left in /dev/shm" "$(ls -A /dev/shm | grep -v filler || true)" ""
}

# accounted NAME [REASON]: all that is missing is missing for want of memory, or for REASON, and the rest is what was executed.
accounted() {
    "$rtl" check --json t.db --truth truth >truth.out 2>&1 || true
    equal "$1: differences from the truth that are no losses" "$(jq '.truth | [.missing, .invented, .repeated, .misaccounted_queues,
        .wrong_name, .wrong_ticks, .recorded - .equal] | add' truth.out)" 0
    equal "$1: losses for other reasons" "$(jq --arg reason "${2:-space}" '[.total.lost | del(.space, .[$reason])[]] | add' truth.out)" 0
    # Where the moment was over before the program needed more, nothing is missing, and nothing need be said.
    [ "$status" = 0 ] || grep -q 'note: /dev/shm/rtl\..* has no room: the ring of this process has .* KiB are missing' check.out ||
        fail "$1: no note tells where memory was short, and how much is missing"
}

# Full for good. The ring has some 256 KiB, which could take 16384 kernels: it goes round in them.
recorded "for good" fill
accounted "for good"
[ "$(ask t.db 'SELECT count(*) FROM kernels')" -gt 100000 ] || fail "for good: the ring ended where its memory did"

# Full for a moment.
recorded "for a moment" 'fill; { for i in {1..1000}; do compgen -G "/dev/shm/rtl.*/ring.*" && break; sleep 0.01; done; sleep 0.3; rm /dev/shm/filler; } \
    >/dev/null 2>&1 & true'
accounted "for a moment" ring # a ring that has all of its memory again may be too small for so many
[ "$(ask t.db 'SELECT count(*) FROM kernels')" -gt 100000 ] || fail "for a moment: the ring ended where its memory did"

# Full while so many are recorded as the ring could not hold: when there is room again, and the ring has not ended, all of what comes is there.
rm -f /dev/shm/filler
mkfifo told
SOFTGPU_DURATION=1000 "$rtl" trace -q -f -m full --gpu soft -o t.db -- "$bin/ctl" <told >ran.out 2>run.err &
exec 8>told
run() { # run COUNT: that many one by one, to their end
    echo "$1" >&8
    for ((i = 0; i < 1200; i++)); do
        [ "$(tail -n 1 ran.out)" != "ran $1" ] || return 0
        sleep 0.05
    done
    fail "a moment in between: the program does not run"
}
run 100
fill
run 60000
rm /dev/shm/filler
run 1000
exec 8>&-
wait $! || fail "a moment in between: status $?"
equal "a moment in between: kernels that came after it" "$(ask t.db 'SELECT count(*) FROM kernels WHERE packet >= 60102')" 1000 # two barrier packets before
status=0
"$rtl" check t.db >check.out 2>&1 || status=$?
equal "a moment in between: status of rtl check" "$status" \
    "$([ "$(ask t.db 'SELECT count(*) FROM kernels')" = 61100 ] && echo 0 || echo 1)"
! grep -q 'too slow' check.out || fail "a moment in between: the collector is blamed"

# No memory for the first of it: not even what was kept ready. The folder's files are the process's own user's.
recorded "none at all" 'until fill; rm -f "$RTL_SESSION"/spare.0; head -c 2M /dev/zero >>/dev/shm/filler; [ ! -e "$RTL_SESSION"/spare.0 ]
    do :; done 2>/dev/null'
equal "none at all: status of rtl check" "$status" 1
for file in run.err check.out; do
    grep -q 'loaded librtl and is not recorded: /dev/shm/rtl\..* has no room for a ring: [0-9]* KiB are needed, [0-9]* KiB are free' \
        "$file" || fail "none at all: $file does not tell what was missing"
done
! grep -q 'no GPU runtime' check.out || fail "none at all: a process is said not to have started a GPU runtime"
equal "none at all: state" "$(ask t.db 'SELECT state FROM processes')" unrecorded

# Full before rtl begins, or too small: the session is elsewhere, and nothing is left here.
for size in full 100k; do
    [ $size = full ] && fill || mount -t tmpfs -o size=$size tmpfs /dev/shm
    "$rtl" trace -q -f --gpu soft -o t.db -- bash -c 'echo "$RTL_SESSION"; ls -A /dev/shm; exec "$@" >/dev/null' program "${storm[@]}" \
        >run.out 2>run.err || fail "$size before: status $?"
    case $(head -n 1 run.out) in
    /tmp/* | "${TMPDIR:-/tmp}"/*) ;;
    *) fail "$size before: the session is in $(head -n 1 run.out)" ;;
    esac
    ! grep -q '^rtl\.' run.out || fail "$size before: a folder was left in /dev/shm"
    [ ! -e "$(head -n 1 run.out)" ] || fail "$size before: the session's folder is still there"
    "$rtl" check t.db >check.out 2>&1 || fail "$size before: the trace is not complete"
    rm -f /dev/shm/filler
done
