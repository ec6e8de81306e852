#!/usr/bin/env bash
# full_disk.sh BUILD: the disk of a trace is full for good while a program is recorded: the program ends as it does alone, and
# the trace itself says that the disk was full, whatever has become of the recorder, and that its counts are at least so high.
[ "${SHM_OWN:-}" ] || SHM_OWN=1 exec unshare -m "$0" "$@" || exit 77
source "$(dirname "$0")/../e2e/lib.sh"
trap 'cd /; umount "$scratch/disk" 2>/dev/null || true; rm -rf "$scratch"' EXIT
mount --make-rprivate / 2>/dev/null && mkdir disk && mount -t tmpfs -o size=3m tmpfs disk || exit 77
LD_PRELOAD=$soft "$bin/hsa_storm" --dispatches 300000 >alone.out || fail "the program alone ended with status $?"

# Another one takes what is left of the disk once there is something of the trace; then much more is recorded.
cat >program <<'END'
#!/bin/bash
"$1" --dispatches 1000 >/dev/null 2>&1
sleep 2
dd if=/dev/zero of=disk/filler bs=1024 2>/dev/null
"$1" --dispatches 300000
status=$?
[ "$2" = kill ] && { sleep 1.5; kill -9 $PPID; sleep 0.2; }
exit $status
END
chmod +x program

# recorded HOW: in disk/t.db.
recorded() {
    rm -f disk/*
    status=0
    { "$rtl" trace -q --gpu soft -o disk/t.db -- ./program "$bin/hsa_storm" "$1" >run.out 2>run.err; } 2>/dev/null || status=$?
    cmp -s run.out alone.out || fail "$1: the program's output is another one"
    ! "$rtl" check disk/t.db >check.out 2>&1 || fail "$1: the trace is called complete"
    grep -q 'the disk was full' check.out || fail "$1: rtl check does not say that the disk was full"
    ! grep -q 'was killed' check.out || fail "$1: rtl check says that the recorder was killed"
    "$rtl" summary disk/t.db >summary.out || fail "$1: rtl summary ended with status $?"
    grep -q 'the disk was full' summary.out || fail "$1: rtl summary does not say that the disk was full"
    equal "$1: what the trace says" "$(ask disk/t.db "SELECT value FROM meta WHERE key = 'failure'")" "the disk was full"
    "$rtl" check --json disk/t.db >check.json || true
}

recorded wait
equal "status" "$status" 0
grep -q '^rtl: the trace is not whole: .*full' run.err || fail "rtl does not say that the disk is full"
# What was seen is told to the end, and so is what of it is not there.
equal "kernels seen" "$(jq .total.seen check.json)" 301000
equal "counts are those of the end" "$(jq .at_least check.json)" false

# The recorder is killed before it can say more: what is there is from before.
recorded kill
equal "status of the killed recorder" "$status" 137
equal "counts are those of a checkpoint" "$(jq .at_least check.json)" true
grep -q 'of at least [0-9 ]* kernels' check.out || fail "the counts are told as if they were all"

# There is room again: the trace is whole, and nothing is left of it.
cat >program <<'END'
#!/bin/bash
"$1" --dispatches 1000 >/dev/null 2>&1
sleep 2
dd if=/dev/zero of=disk/filler bs=1024 2>/dev/null
"$1" --dispatches 10000
sleep 1.5
rm disk/filler
END
rm -f disk/*
"$rtl" trace -q --gpu soft -o disk/t.db -- ./program "$bin/hsa_storm" >run.out 2>run.err || fail "a moment: status $?"
"$rtl" check disk/t.db >check.out 2>&1 || fail "a moment: the trace is not complete"
equal "a moment: kernels" "$(ask disk/t.db 'SELECT count(*) FROM kernels')" 11000

# Too small a disk from the first: one sentence that says so and names the folder, and what is in the trace can be read.
small() {
    rm -rf small
    mkdir small
    mount -t tmpfs -o size="$1k" tmpfs small
    status=0
    "$rtl" trace -q --gpu soft -o small/t.db -- "$bin/hsa_storm" --dispatches 50000 --batch 16 >run.out 2>run.err || status=$?
    without_remarks run.err
    case $status in
    2)
        refused=$((refused + 1))
        equal "$1 KiB: what is left" "$(ls small)" ""
        grep -q '^rtl: cannot write the trace .*small/t.db: the disk is full, .*small has no space for more$' run.err ||
            fail "$1 KiB: rtl does not say that the disk is full"
        equal "$1 KiB: sentences" "$(wc -l <run.err)" 1
        ;;
    0)
        "$rtl" sql small/t.db 'SELECT count(*) FROM kernels' >count.out 2>&1 || fail "$1 KiB: the trace cannot be read"
        if grep -q "^rtl: the trace .*small/t.db is whole only with .*small/t.db-wal beside it, .*: the disk is full" run.err; then
            apart=$((apart + 1))
            equal "$1 KiB: sentences" "$(wc -l <run.err)" 1
            [ -s small/t.db-wal ] || fail "$1 KiB: there is no log"
            "$rtl" check small/t.db >check.out 2>&1 || fail "$1 KiB: the trace is not whole with its log"
            equal "$1 KiB: kernels" "$(cat count.out)" 50000
        elif [ -s run.err ]; then
            lost=$((lost + 1))
            equal "$1 KiB: sentences" "$(wc -l <run.err)" 1
            grep -q "^rtl: the trace is not whole: .*small/t.db: the disk is full, .*small has no space for more" run.err ||
                fail "$1 KiB: rtl does not say that the disk is full"
            ! "$rtl" check small/t.db >check.out 2>&1 || fail "$1 KiB: the trace is called complete"
            grep -q 'the disk was full' check.out || fail "$1 KiB: rtl check does not say that the disk was full"
        else
            equal "$1 KiB: kernels" "$(cat count.out)" 50000
            equal "$1 KiB: files" "$(ls small)" t.db
        fi
        ;;
    *) fail "$1 KiB: status $status" ;;
    esac
    umount small
}
trap 'cd /; umount "$scratch/small" "$scratch/disk" 2>/dev/null || true; rm -rf "$scratch"' EXIT
refused=0 lost=0 apart=0
for kib in 20 100 160 172 184 196 208 220 232 244 256 280 320 400 {408..480..8} 600 2048; do small "$kib"; done
[ "$refused" -gt 0 ] && [ "$lost" -gt 0 ] || fail "no disk was too small: $refused traces refused, $lost not whole"
[ "$apart" -gt 0 ] || fail "no disk was too small for the log to be put into the trace"
