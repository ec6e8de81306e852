#!/usr/bin/env bash
# limits.sh BUILD PART [PLUGIN PROGRAM]: whatever limit a program has been given, it ends as it does without RTL: the same status, the same output,
# the same errors, at six values of each limit. What is not recorded for it is said by rtl, with the limit. PART: the letter of a
# limit, as ulimit has it; `rtl` (one that the recorder has been given), `time`, `user`, `hip` (the least data of a HIP program), `later-v`
# or `later-d` (memory that the program takes after its start), `own-v` or `own-d` (a limit that the program gives itself, near to what it
# has), `own-end` (one that leaves nothing at the end), `worker` (what RTL's thread takes).
source "$(dirname "$0")/lib.sh"
part=$1
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

# all_there: the trace has what the program says that it has run; HIP may have copied by kernels of its own.
all_there() {
    local wanted
    wanted=$(grep -o '[0-9][0-9]*' alone.out | head -n 1)
    if [ "$part" = hip ]; then
        [ "$wanted" -gt 0 ] && [ "$(ask t.db "SELECT count(*) FROM kernels WHERE name NOT LIKE '\_\_amd\_%' ESCAPE '\'")" = "$wanted" ]
    else
        [ "$wanted" = 3000 ] && [ "$(ask t.db 'SELECT count(*) FROM kernels')" = 3000 ]
    fi
}

# compare LETTER VALUE: the program alone under the limit, and recorded.
compare() {
    local alone with
    run alone env LD_PRELOAD="$soft" ./limited "$@" "${program[@]}"
    alone=$status
    run with "$rtl" trace --gpu soft -q -f -o t.db -- ./limited "$@" "${program[@]}"
    with=$status
    without_remarks alone.err with.err
    equal "ulimit -$1 $2: status" "$with" "$alone"
    equal "ulimit -$1 $2: output" "$(cat with.out)" "$(cat alone.out)"
    equal "ulimit -$1 $2: errors" "$(grep -v '^rtl: \|cannot be preloaded' with.err || true)" "$(cat alone.err)"
    [ "$alone" != 0 ] && return
    # It ran: it is in the trace whole, or it is said what it lacked.
    if "$rtl" check t.db >check.out 2>&1; then
        all_there || fail "ulimit -$1 $2: $(ask t.db 'SELECT count(*) FROM kernels') kernels"
        recorded=$((recorded + 1))
    else
        grep -q 'RLIMIT_\|ulimit' check.out || fail "ulimit -$1 $2: the trace does not name the limit"
        refused=$((refused + 1))
    fi
}

declare -A values=([f]="1 4 64 1000 8000 16000" [n]="5 6 8 12 16 64" [v]="100000 1000000 4000000 4600000 6000000 16000000" [l]="0 8 64 1000 8000 64000"
    [s]="64 128 256 1000 8000 100000" [u]="1 2 4 8 64 1000" [t]="1 2 3 5 10 60")
# So many of them are enough for a recording. Files of 0 bytes are not tried: there the thunk of ROCr 5.2 makes its semaphore only if
# another process has just made it.
declare -A enough=([f]=5 [n]=3 [v]=1 [l]=4 [s]=4 [u]=4 [t]=4)

usual() {
    recorded=0 refused=0
    for value in ${values[$part]}; do compare "$part" "$value"; done
    [ "$recorded" -ge "${enough[$part]}" ] || fail "only $recorded runs were recorded, $refused were refused"
}

# above_least MORE…: the least limit of data that the program can run with, to 10 KiB, and so many KiB more. RTL is loaded then, and no
# more of it.
above_least() {
    local low=16000 high=64000000 middle more
    while [ $((high - low)) -gt 10 ]; do
        middle=$(((low + high) / 2))
        run alone env LD_PRELOAD="$soft" ./limited d "$middle" "${program[@]}"
        if [ "$status" = 0 ]; then high=$middle; else low=$middle; fi
    done
    # How many stacks of threads are there at once depends on the moment: not on this one.
    until runs_each_time "$high"; do high=$((high + 500)); done
    refused=0 recorded=0
    for more; do compare d $((high + more)); done
}

runs_each_time() {
    for _ in 1 2 3 4 5; do
        run alone env LD_PRELOAD="$soft" ./limited d "$1" "${program[@]}"
        [ "$status" = 0 ] || return 1
    done
}

data() {
    # Up to what there is enough for RTL beside it.
    above_least 250 1000 3000 16000 80000 400000
    [ "$refused" -ge 3 ] || fail "only $refused runs were refused near the limit of data"
    [ "$recorded" -ge 1 ] || fail "nothing is recorded where 400 MB of data are left"
}

data_of_hip() {
    # It registers kernels when it is loaded, and makes calls before the GPU runtime is there.
    export SOFTGPU_PLUGINS=$1 RTL_TEST_COMGR_CACHE=off
    program=("$2" device exit)
    if [ "$rocr" -ge 13 ]; then
        # HIP from 5.7 on takes some 96 MB behind RTL's beginning: a part in 32 of them is RTL's, and the library's own MiB.
        above_least 4300 8000 16000
        return
    fi
    above_least 250 1000 3000
    [ "$refused" = 3 ] || fail "only $refused runs were refused near the limit of data"
}

# left LETTER VALUE: what that leaves the program without RTL, KiB: when the GPU runtime is up, and later.
left() {
    run alone env LD_PRELOAD="$soft" ./limited "$@" "$bin/spend" 0
    [ "$status" = 0 ] || fail "ulimit -$1 $2: spend: status $status"
    read -r at_start later < <(sed -n 's/^left //p' alone.err)
}

# The program takes all but RTL's share of what is left, which is one part in 32 of what was left at the start, and the library's own
# MiB; and more than there is. The trace tells the share.
later() {
    local letter=$1 room limit taken share own=250
    # Else it depends on the moment how many threads of the program glibc sets 64 MiB of addresses aside for. RTL's: see `worker`.
    export MALLOC_ARENA_MAX=1
    left "$letter" 8000000
    taken=$((8000000 - at_start))
    recorded=0 refused=0
    # The library is part of the addresses, and its variables are of the data.
    [ "$letter" = d ] || own=1024
    for room in 60000 165000 420000 600000 1000000 2000000; do
        left "$letter" $((taken + room))
        limit=$((taken + room))
        share=$((at_start / 32 + own))
        for take in $((later - share)) $((later + 1024)); do
            program=("$bin/spend" "$take")
            run alone env LD_PRELOAD="$soft" ./limited "$letter" "$limit" "${program[@]}"
            alone=$status
            run with "$rtl" trace --gpu soft -q -f -o t.db -- ./limited "$letter" "$limit" "${program[@]}"
            equal "ulimit -$letter $limit, $take KiB later: status" "$status" "$alone"
            equal "ulimit -$letter $limit, $take KiB later: output" "$(cat with.out)" "$(cat alone.out)"
        done
        if "$rtl" check t.db >check.out 2>&1; then
            recorded=$((recorded + 1))
            held=$(sed -n "s/.*note: RTL holds up to \([0-9]*\) MB of the $((limit / 1024)) MB that ulimit -$letter allows.*/\1/p" check.out)
            # What the runtime had not taken by then is not known here to 32 MB.
            [ -n "$held" ] && [ "$held" -ge $((at_start / 32 / 1024)) ] && [ "$held" -le $((at_start / 32 / 1024 + 1)) ] ||
                fail "ulimit -$letter $limit: '$held' MB are told"
        else
            refused=$((refused + 1))
            grep -q "ulimit -$letter" check.out || fail "ulimit -$letter $limit: the trace does not name the limit"
        fi
    done
    [ "$recorded" -ge 3 ] || fail "only $recorded runs were recorded"
    [ "$refused" -ge 1 ] || fail "all were recorded, however little was left"
}

# The program has what it had above its use: RTL asks the runtime, which says so each time that it fails, for no more than there is.
own() {
    local letter=$1 short=0 whole=0 truth different
    export SOFTGPU_DURATION=20000
    for room in 300 1000 3000 30000 4000000; do
        program=("$bin/own_limit" "$letter" "$room")
        run alone env LD_PRELOAD="$soft" "${program[@]}"
        alone=$status
        # The log takes addresses of its own, a MiB after the other.
        truth=() different=0
        [ "$letter" = v ] && [ "$room" -lt 30000 ] || truth=(--truth truth)
        SOFTGPU_TRUTH=${truth[1]:-} run with "$rtl" trace --gpu soft -q -f -o t.db -- "${program[@]}"
        equal "$room KiB above use: status" "$status" "$alone"
        equal "$room KiB above use: output" "$(cat with.out)" "$(cat alone.out)"
        equal "$room KiB above use: errors" "$(cat with.err)" "$(cat alone.err)"
        "$rtl" check --json "${truth[@]}" t.db >check.json 2>&1 || true
        [ "${#truth[@]}" = 0 ] || different=$(jq '.truth | .missing + .invented + .repeated + .misaccounted_queues + .wrong_name + .wrong_ticks + .wrong_time' check.json)
        equal "$room KiB above use: differences from the truth" "$different" 0
        equal "$room KiB above use: kernels accounted for" "$(jq '.total.recorded + (.total.lost | add)' check.json)" 131328
        "$rtl" check t.db >check.out 2>&1 || true
        grep -q "note: the program has set its limit of memory (ulimit -$letter)" check.out || fail "$room KiB above use: the note is missing"
        if grep -q '^complete' check.out; then
            whole=$((whole + 1))
        else
            equal "$room KiB above use: other losses" "$(jq '[.total.lost | del(.pool, .pending) | .[]] | add' check.json)" 0
            grep -q "what to do: .*limit.*ulimit -$letter" check.out || fail "$room KiB above use: the advice does not name the limit"
            short=$((short + 1))
        fi
    done
    [ "$short" -ge 1 ] || fail "RTL never ran short"
    [ "$whole" -ge 1 ] || fail "nothing was recorded whole, however much was left"
}

of_worker() {
    # Where addresses are limited RTL's worker does not allocate, not even where all has to wait for a ring that is full; else it does.
    local kernels="--dispatches 60000 --batch 256 --queues 4 --threads 4"
    for limit in unlimited 8000000; do
        rm -f allocated
        # shellcheck disable=SC2086 # words
        LD_PRELOAD=$build/tests/lib/no_malloc.so SOFTGPU_DURATION=0 "$rtl" trace --gpu soft --buffer 64K -q -f -o t.db -- \
            ./limited v "$limit" "$bin/hsa_storm" $kernels >with.out 2>with.err || fail "ulimit -v $limit: status $?"
        "$rtl" check t.db >check.out 2>&1 || true
        if [ "$limit" = unlimited ]; then
            [ -e allocated ] || fail "what the worker does is not seen"
        else
            [ ! -e allocated ] || fail "ulimit -v $limit: the worker has allocated"
            grep -q "of 60 000 kernels" check.out || fail "ulimit -v $limit: nothing was recorded"
        fi
    done
}

of_rtl() {
    # A limit that the recorder has been given, too: it has no signal of it.
    for kib in 0 4 64 400 1000 16000; do
        run with ./limited f "$kib" "$rtl" trace --gpu soft -q -f -o t.db -- "${program[@]}"
        [ "$status" = 0 ] || [ "$status" = 2 ] || fail "ulimit -f $kib for rtl: status $status"
        [ "$status" = 0 ] || grep -q 'RLIMIT_FSIZE' with.err || fail "ulimit -f $kib for rtl: it is not said"
    done

    # rtl runs, or says in one sentence why not, and what is needed is enough.
    for limit in "s 64" "s 96" "s 128" "s 256" "n 5" "n 7" "n 8" "n 9" "n 12" "n 13" "n 15" "n 18" "f 200" "f 320"; do
        read -r letter value <<<"$limit"
        run with ./limited "$letter" "$value" "$rtl" trace --gpu soft -q -f -o t.db -- "${program[@]}"
        if [ "$status" = 0 ]; then
            equal "ulimit -$limit for rtl: kernels" "$(ask t.db 'SELECT count(*) FROM kernels')" 3000
        else
            equal "ulimit -$limit for rtl: status" "$status" 2
            equal "ulimit -$limit for rtl: sentences" "$(grep -c '^rtl: ' with.err)" 1
            grep -q "ulimit -$letter" with.err || fail "ulimit -$limit for rtl: it is not named"
        fi
    done
    # Each command that reads, and doctor.
    run with "$rtl" trace --gpu soft -q -f -o whole.db -- "${program[@]}"
    cp whole.db kept.db
    for command in "check whole.db" "summary whole.db" "export whole.db -f -o whole.csv -F csv" "sql whole.db SELECT" "view whole.db -o whole.html" \
        "diff whole.db whole.db" "ctl status" doctor; do
        for limit in "n 6" "n 7" "f 0"; do
            read -r letter value <<<"$limit"
            # Those that write no file need none.
            [ "$letter" = f ] && ! [[ $command =~ export|view|doctor ]] && continue
            # shellcheck disable=SC2086 # words
            run with ./limited "$letter" "$value" "$rtl" $command
            equal "ulimit -$limit for rtl $command: status" "$status" 2
            equal "ulimit -$limit for rtl $command: sentences" "$(grep -c '^rtl: ' with.err)" 1
            grep -q "ulimit -$letter" with.err || fail "ulimit -$limit for rtl $command: it is not named"
        done
    done
    cmp whole.db kept.db || fail "the trace is not what it was"
    # What happens to a file of rtl's is not passed on to the program as a signal.
    run with ./limited f 340 "$rtl" trace --gpu soft -q -f -o t.db -- "$bin/hsa_storm" --dispatches 300000
    equal "a trace that grows too long: status" "$status" 0
    grep -q 'all right$' with.out || fail "a trace that grows too long: the program has not come to its end"
    grep -q "the trace is not whole: .*ulimit -f, is 340 KiB" with.err || fail "a trace that grows too long: it is not said why"
    run with ./limited f 200 "$rtl" trace --gpu soft -q -f -o t.db -- "${program[@]}"
    needed=$(sed -n 's/.*smallest ring takes \([0-9]*\) KiB.*/\1/p' with.err)
    run with ./limited f "${needed:-0}" "$rtl" trace --gpu soft -q -f -o t.db -- "${program[@]}"
    equal "rtl with as long files as it says it needs" "$status" 0
    run with ./limited f $((needed - 1)) "$rtl" doctor
    equal "rtl doctor with shorter files: status" "$status" 2
    grep -q "needs $needed KiB" with.err || fail "rtl doctor needs other files than rtl trace"
}

of_time() {
    # The time of a processor runs out: the program ends as it does, and rtl as the program.
    program=("$bin/hsa_storm" --dispatches 200000000)
    compare t 1
}

of_user() {
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
            run alone env LD_PRELOAD="$soft" "${as[@]}" ./limited u "$processes" "${program[@]}"
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
        # The limit that rtl has been given, too: it says before that it is one of so few.
        for limit in "12 1" "200 0"; do
            read -r processes sentences <<<"$limit"
            run with "${as[@]}" ./limited u "$processes" "$rtl" trace --gpu soft -q -f -o t.db -- "${program[@]}"
            equal "ulimit -u $processes for rtl: status" "$status" 0
            equal "ulimit -u $processes for rtl: sentences" \
                "$(grep -c "^rtl: this user may have $processes processes and threads (RLIMIT_NPROC" with.err)" "$sentences"
        done
    fi
}

# The program leaves itself no data at all, and then ends in order: what gives signals back may need some.
own_end() {
    cat >ending <<'END'
#!/bin/bash
mkfifo words
"$1" <words >said &
exec 7>words
rm words
echo 10 >&7
until grep -q '^ran 10$' said || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
prlimit --pid $! --data="$2" || exit 99
echo 3000 >&7
exec 7>&-
status=0
wait $! || status=$?
cat said
exit $status
END
    chmod +x ending
    for limit in 1 1000000 40000000; do
        run alone env LD_PRELOAD="$soft" ./ending "$bin/ctl" "$limit"
        equal "no data ($limit), alone" "$status" 0
        run with "$rtl" trace --gpu soft -q -f -o t.db -- ./ending "$bin/ctl" "$limit"
        equal "no data ($limit): status" "$status" 0
        equal "no data ($limit): output" "$(cat with.out)" "$(cat alone.out)"
        "$rtl" check t.db >check.out || fail "no data ($limit): not complete"
        equal "no data ($limit): kernels" "$(ask t.db 'SELECT count(*) FROM kernels')" 3010
    done
}

case $part in
own-end) own_end ;;
d) data ;;
rtl) of_rtl ;;
time) of_time ;;
user) of_user ;;
hip) data_of_hip "$2" "$3" ;;
worker) of_worker ;;
later-*) later "${part#later-}" ;;
own-*) own "${part#own-}" ;;
*) usual ;;
esac
