#!/usr/bin/env bash
# opened.sh BUILD: what RTL opens in folders that others may write to, as the kernel saw it (strace), while a program is recorded and
# controlled and its trace is read and exported: everything as docs/security.md has it, made exclusively and for this user alone.
# Skipped (77) where there is no strace, or where it may not look.
source "$(dirname "$0")/lib.sh"
strace -f -o allowed true 2>/dev/null || { echo "no strace: skipped" && exit 77; }
mkdir -m 1777 shared tmp
export TMPDIR=$scratch/tmp SOFTGPU_DURATION=1000
plain=$rtl
traced=0

# look COMMAND...: its system calls come into strace.N.PID.
look() {
    traced=$((traced + 1))
    strace -ff -y -qq -e trace=open,openat,openat2,creat,mkdir,mkdirat,mknod,mknodat,symlink,symlinkat,unlink,unlinkat -o "strace.$traced" "$@" \
        >look.out 2>look.err || fail "'${*:2}' ended with status $?"
}

look "$plain" trace -q -m full --gpu soft -o shared/t.db -- bash -c '"$1" ctl stop "$RTL_SESSION"; "$1" ctl start "$RTL_SESSION"
    "$1" ctl status; "$2" <<<20' program "$plain" "$bin/ctl"
for command in "check" "info" "summary" "timeline" "sql SELECT"; do
    case $command in
    sql*) look "$plain" sql shared/t.db "SELECT count(*) FROM kernels" ;;
    *) look "$plain" $command shared/t.db ;;
    esac
done
for format in chrome perfetto csv rpd rocpd rocprofv3; do
    look "$plain" export -F $format -o shared/t.$format shared/t.db
done
look "$plain" merge shared/merged.db shared/t.db
look "$plain" import -o shared/imported.db shared/t.rpd
[ ! -e "$build/lib/rtl-viewer.html" ] || look "$plain" view -n -o shared/t.html shared/t.db

# Started by librtl.so; the collector is a process of its own.
look env "LD_PRELOAD=$soft" HSA_TOOLS_LIB="$build/lib/librtl.so" RTL_MODE=full RTL_OUTPUT=shared/own.db "$bin/ctl" <<<20

# Another user's session in RTL_SESSION: of root only the folder is looked at.
other=$(mktemp -d tmp/rtl.XXXXXX)
mkfifo "$other/session"
if chown -R 47112:47112 "$other" 2>/dev/null; then
    look env "LD_PRELOAD=$soft" HSA_TOOLS_LIB="$build/lib/librtl.so" RTL_SESSION="$other" "$bin/ctl" <<<20
    ! grep -h -F "/$other>, " strace.$traced.* || fail "a file of another user's session was opened"
fi
equal "traces" "$(cd shared && ls -- *.db | paste -sd ' ')" "imported.db merged.db own.db t.db"

python3 "$here/opened.py" "$scratch" strace.[0-9]* >opened.out || fail "something is not opened as docs/security.md says"
