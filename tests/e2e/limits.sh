#!/usr/bin/env bash
# limits.sh BUILD: whatever limit a program has been given, it ends as it does without RTL: the same status, the same output,
# the same errors, at six values of each limit. What is not recorded for it is said by rtl, with the limit.
source "$(dirname "$0")/lib.sh"
program=("$bin/hsa_storm" --dispatches 3000)

# What gives itself a limit (ulimit), and then becomes the program.
cat >limited <<'END'
#!/bin/bash
ulimit -c 0
ulimit -"$1" "$2" || exit 99
shift 2
exec "$@"
END
chmod +x limited

# run NAME COMMAND…: its status, and what it says in NAME.out and NAME.err, which it does not write itself.
run() {
    local name=$1
    shift
    status=0
    { { "$@" 2>&1 1>&3 | cat >"$name.err"; } 3>&1 | cat >"$name.out"; } 2>/dev/null || status=$?
}

# compare LETTER VALUE: the program alone under the limit, and recorded.
compare() {
    local alone with
    run alone env LD_LIBRARY_PATH="$build/lib/softgpu" ./limited "$@" "${program[@]}"
    alone=$status
    run with "$rtl" trace --gpu soft -q -f -o t.db -- ./limited "$@" "${program[@]}"
    with=$status
    equal "ulimit -$1 $2: status" "$with" "$alone"
    equal "ulimit -$1 $2: output" "$(cat with.out)" "$(cat alone.out)"
    equal "ulimit -$1 $2: errors" "$(grep -v '^rtl: \|cannot be preloaded' with.err || true)" "$(cat alone.err)"
    [ "$alone" != 0 ] && return
    # It ran: it is in the trace whole, or it is said what it lacked.
    if "$rtl" check t.db >check.out 2>&1; then
        equal "ulimit -$1 $2: kernels" "$(ask t.db 'SELECT count(*) FROM kernels')" 3000
        recorded=$((recorded + 1))
    else
        grep -q 'RLIMIT_\|ulimit' check.out || fail "ulimit -$1 $2: the trace does not name the limit"
        refused=$((refused + 1))
    fi
}

recorded=0 refused=0
for kib in 0 4 64 1000 8000 16000; do compare f "$kib"; done
equal "recorded under any limit of files" "$recorded" 6
for files in 5 6 8 12 16 64; do compare n "$files"; done
for kib in 100000 1000000 4000000 4600000 6000000 16000000; do compare v "$kib"; done
for kib in 0 8 64 1000 8000 64000; do compare l "$kib"; done
for processes in 1 2 4 8 64 1000; do compare u "$processes"; done
for seconds in 1 2 3 5 10 60; do compare t "$seconds"; done
[ "$recorded" -ge 20 ] || fail "only $recorded runs were recorded, $refused were refused"

# A limit that the recorder has been given, too: it has no signal of it.
for kib in 0 4 64 400 1000 16000; do
    run with ./limited f "$kib" "$rtl" trace --gpu soft -q -f -o t.db -- "${program[@]}"
    [ "$status" = 0 ] || [ "$status" = 2 ] || fail "ulimit -f $kib for rtl: status $status"
    [ "$status" = 0 ] || grep -q 'RLIMIT_FSIZE' with.err || fail "ulimit -f $kib for rtl: it is not said"
done

# The time of a processor runs out: the program ends as it does, and rtl as the program.
program=("$bin/hsa_storm" --dispatches 200000000)
compare t 1

# A user who may have few threads: root is not asked. rtl is a process of the user, too; alone there is another one for it.
program=("$bin/hsa_storm" --dispatches 3000)
as=(setpriv --reuid=65533 --clear-groups)
if [ "$(id -u)" = 0 ] && "${as[@]}" test -x "$rtl" 2>/dev/null; then
    chmod 755 "$scratch"
    mkdir -m 777 others
    cd others
    cp ../limited .
    for processes in 1 2 3 6 24 64; do
        "${as[@]}" sleep 60 &
        run alone env LD_LIBRARY_PATH="$build/lib/softgpu" "${as[@]}" ./limited u "$processes" "${program[@]}"
        alone=$status
        kill $!
        wait $! 2>/dev/null || true
        run with "${as[@]}" "$rtl" trace --gpu soft -q -f -o t.db -- ./limited u "$processes" "${program[@]}"
        equal "ulimit -u $processes: status" "$status" "$alone"
        equal "ulimit -u $processes: output" "$(cat with.out)" "$(cat alone.out)"
        [ "$alone" != 0 ] && continue
        "$rtl" check t.db >check.out 2>&1 || grep -q RLIMIT_NPROC check.out ||
            fail "ulimit -u $processes: the trace does not name the limit"
    done
fi
