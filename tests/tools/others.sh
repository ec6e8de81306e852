#!/usr/bin/env bash
# others.sh BUILD: what another user puts in the way in folders that everybody may write to. Nothing of it is used, waited for
# or written to, and a sentence says what is wrong. Needs root, to be two users; skipped (77) otherwise.
source "$(dirname "$0")/lib.sh"
bob=47112
by() { # by USER COMMAND...
    local user=$1
    shift
    timeout 60 setpriv --reuid="$user" --regid="$user" --clear-groups env HOME=/nowhere "$@"
}
[ "$(id -u)" = 0 ] || { echo "not root: skipped" && exit 77; }
by 47111 "$rtl" --version >/dev/null 2>&1 || { echo "other users cannot run $rtl: skipped" && exit 77; }
chmod 711 "$scratch"
shared=$scratch/shared
mkdir -m 1777 "$shared"
planted=$(mktemp -u /dev/shm/rtl.XXXXXX)
trap 'rm -rf "$scratch" "$planted"' EXIT

# refused PATTERN COMMAND...: ends by itself, with status 2 and one sentence that matches.
refused() {
    local pattern=$1 status=0
    shift
    "$@" >refused.out 2>refused.err || status=$?
    equal "status of '$*'" "$status" 2
    equal "lines of '$*'" "$(wc -l <refused.err)" 1
    grep -q -E -e "$pattern" refused.err || fail "'$*' does not say '$pattern'"
}

# ends STATUS COMMAND...: ends by itself, with this status.
ends() {
    local wanted=$1 status=0
    shift
    "$@" >ends.out 2>ends.err || status=$?
    equal "status of '$*'" "$status" "$wanted"
}

# A session of FIFOs, of links, of files that everybody may write to: nobody's ctl waits for it or looks into it.
for kind in fifo link open; do
    by $bob sh -c "umask 0; mkdir -m 777 $planted"
    # shellcheck disable=SC2016 # expanded by that shell
    by $bob sh -c 'umask 0; case $1 in
        fifo) mkfifo -m 666 "$2/session" "$2/ring.1.0" ;;
        link) ln -s /proc/self/stat "$2/session"; ln -s /proc/self/stat "$2/ring.1.0" ;;
        open) printf "wire 9\nversion test\n" >"$2/session"; : >"$2/ring.1.0" ;;
        esac' - $kind "$planted"
    for user in 0 47111; do
        ends 0 by $user "$rtl" ctl status
        ! grep -q "$planted" ends.out || fail "rtl ctl status of $user lists the session of $kind"
        refused "no session at $planted: it is not yours alone" by $user "$rtl" ctl status "$planted"
        refused "no session at $planted: it is not yours alone" by $user "$rtl" collect --session "$planted" -o "$shared/c.db"
        [ ! -e "$shared/c.db" ] || fail "a trace was made"
    done
    # In a folder that is its owner's alone, root looks at the files one by one.
    chmod 700 "$planted"
    refused "no session at $planted: " by 0 "$rtl" ctl status "$planted"
    refused "no session at $planted: " by 47111 "$rtl" ctl status "$planted"
    rm -rf "$planted"
done

for user in 0 47111; do
    # Files beside a new trace.
    for suffix in -wal -shm -journal; do
        by $bob sh -c "umask 0; : >$shared/x.db$suffix"
        refused "x.db$suffix is in the way \(it is another user's\)" by $user "$rtl" trace --gpu soft -q -o "$shared/x.db" -- true
        equal "what was left" "$(ls "$shared")" "x.db$suffix"
        [ ! -s "$shared/x.db$suffix" ] || fail "something was written to the other user's file"
        rm "$shared/x.db$suffix"
    done

    # While it is recorded they are there and private, from the first moment on; at the end there is one file.
    # shellcheck disable=SC2016 # expanded by that shell
    by $user "$rtl" trace --gpu soft -q -o "$shared/x.db" -- sh -c 'stat -c "%u %a %n" "$1" "$1-wal" "$1-shm"' - "$shared/x.db" >while.out 2>run.err ||
        fail "rtl trace of $user"
    equal "files of the recording" "$(sed "s|$shared/||" while.out | paste -sd+)" "$user 600 x.db+$user 600 x.db-wal+$user 600 x.db-shm"
    equal "what was left" "$(ls "$shared")" x.db

    # Files beside a trace that is read.
    for suffix in -wal -journal; do
        for kind in ': >' 'mkfifo -m 666 ' 'ln -s /dev/zero '; do
            by $bob sh -c "umask 0; $kind$shared/x.db$suffix"
            for reader in 0 $user; do
                refused "x.db$suffix is not the trace's own" by "$reader" "$rtl" info "$shared/x.db"
            done
            refused "x.db$suffix is (not the trace's own|in the way)" by $user "$rtl" trace --gpu soft -q -f -o "$shared/x.db" -- true
            rm "$shared/x.db$suffix"
        done
    done
    # What was put where an output goes: a FIFO would get all of it, a file give its owner and mode.
    for kind in ': >' 'mkfifo -m 666 ' 'ln -s /dev/zero '; do
        by $bob sh -c "umask 0; $kind$shared/out.csv"
        before=$(stat -c '%u %a %F %i' "$shared/out.csv")
        refused "out.csv" by $user "$rtl" export --format csv -f -o "$shared/out.csv" "$shared/x.db"
        refused "out.csv" by $user "$rtl" merge -f "$shared/out.csv" "$shared/x.db"
        equal "what was planted" "$(stat -c '%u %a %F %i' "$shared/out.csv")" "$before"
        rm "$shared/out.csv"
    done
    # One's own leftover goes.
    by $user sh -c "echo leftover >$shared/x.db-wal"
    by $user "$rtl" trace --gpu soft -q -f -o "$shared/x.db" -- true || fail "one's own leftover is in the way"
    equal "what was left" "$(ls "$shared")" x.db
    rm "$shared/x.db"
done

# Another's file in another's folder, which can be read or not: why it stays is told, and no -f is offered that would not replace it.
mkdir -m 755 "$scratch/folder"
"$rtl" trace --gpu soft -q -o "$scratch/folder/x.db" -- true
"$rtl" export --format rpd -o "$scratch/folder/x.rpd" "$scratch/folder/x.db"
"$rtl" trace --gpu soft -q -o "$shared/closed.db" -- true
chmod 644 "$scratch/folder/x.db"
by $bob "$rtl" trace --gpu soft -q -o "$shared/own.db" -- true
for force in "" -f; do
    # shellcheck disable=SC2086
    for file in "$scratch/folder/x.db" "$shared/closed.db"; do
        refused "denied|another user's|not permitted" by $bob "$rtl" trace --gpu soft -q $force -o "$file" -- true
        refused "denied|another user's|not permitted" by $bob "$rtl" merge $force "$file" "$shared/own.db"
        refused "denied|another user's|not permitted" by $bob "$rtl" import $force -o "$file" "$scratch/folder/x.rpd"
        refused "denied|another user's|not permitted" by $bob "$rtl" export --format csv $force -o "$file" "$shared/own.db"
        refused "denied|another user's|not permitted" by $bob "$rtl" view -n $force -o "$file" "$shared/own.db"
    done
done
for command in summary info check timeline ranges "steps --by kernels" ranks idle memory report "graph list" "export -F csv -o $shared/none.csv" "view -n"; do
    # shellcheck disable=SC2086
    refused "closed.db: Permission denied" by $bob "$rtl" $command "$shared/closed.db"
done
refused "closed.db: Permission denied" by $bob "$rtl" sql "$shared/closed.db" 'SELECT 1'
