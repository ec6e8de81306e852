#!/usr/bin/env bash
# no_session.sh BUILD: no folder takes a session. Each that was tried is named with its own reason, in one sentence, by rtl and by
# librtl where a program runs without rtl; the program ends as it does alone.
[ "${SHM_OWN:-}" ] || SHM_OWN=1 exec unshare -m "$0" "$@" || exit 77
source "$(dirname "$0")/lib.sh"
trap 'cd /; umount -l "$scratch/work/closed" "$scratch/work" /tmp 2>/dev/null || true; rm -rf "$scratch" || true' EXIT
mount --make-rprivate / 2>/dev/null && mkdir work && mount --bind /tmp /tmp && cd "$scratch" && mount -t tmpfs tmpfs work || exit 77
cd work
mkdir closed
echo >file
mount -t tmpfs -o ro tmpfs /dev/shm && mount -t tmpfs -o ro tmpfs closed || exit 77
program=("$bin/hsa_storm" --dispatches 1000)
export RTL_OUTPUT=$PWD/own.db

# said TMPDIR PATTERN: by rtl, with its status, and by librtl.
said() {
    status=0
    TMPDIR=$1 "$rtl" trace -q -f --gpu soft -o t.db -- "${program[@]}" >run.out 2>run.err || status=$?
    equal "TMPDIR=$1: status" "$status" 2
    without_remarks run.err
    equal "TMPDIR=$1: lines of rtl" "$(wc -l <run.err)" 1
    grep -q "^rtl: no session could be made: $2\$" run.err || fail "TMPDIR=$1: rtl does not say why: $2"
    TMPDIR=$1 LD_PRELOAD=$soft HSA_TOOLS_LIB=$build/lib/librtl.so "${program[@]}" >run.out 2>run.err ||
        fail "TMPDIR=$1: the program ended with status $?"
    grep -q 'all right$' run.out || fail "TMPDIR=$1: the program saw a difference"
    without_remarks run.err
    equal "TMPDIR=$1: lines of librtl" "$(wc -l <run.err)" 1
    grep -q "no session could be made: $2: nothing is recorded\$" run.err || fail "TMPDIR=$1: librtl does not say why: $2"
}

# One of them is enough.
TMPDIR=$PWD/absent "$rtl" trace -q -f --gpu soft -o t.db -- "${program[@]}" >run.out 2>run.err || fail "/tmp was not used: status $?"
equal "kernels with a session in /tmp" "$(ask t.db 'SELECT count(*) FROM kernels')" 1000

mount -o remount,bind,ro /tmp || exit 77
shm='/dev/shm: Read-only file system'
tmp='/tmp: Read-only file system'
said "$PWD/absent" "$shm; $PWD/absent: No such file or directory; $tmp"
said "$PWD/file" "$shm; $PWD/file: Not a directory; $tmp"
said "$PWD/closed" "$shm; $PWD/closed: Read-only file system; $tmp"
said "" "$shm; $tmp"
said "relative" "$shm; $tmp"
umount /dev/shm && mount -t tmpfs -o size=100k tmpfs /dev/shm || exit 77
said "$PWD/absent" "/dev/shm has no room for a ring: [0-9]* KiB are needed, [0-9]* KiB are free; $PWD/absent: No such file or directory; $tmp"
