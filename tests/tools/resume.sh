#!/usr/bin/env bash
# resume.sh BUILD: a merge that was ended at any moment - by a signal, killed, or without space - goes on, and what comes of it is,
# row by row, what comes of one that nothing ended.
source "$(dirname "$0")/../e2e/lib.sh"
RANDOM=${RTL_TEST_SEED:-$$}
echo "seed: RTL_TEST_SEED=$RANDOM"

# Traces of ranks, each of another process. The name of the new one is in it: each merge is in a folder of its own.
traces=24
"$build/tests/bin/bench_store" --write eager --queues 2 --shapes 20 --kernels 30000 --file first.db >write.out
inputs=()
for i in $(seq 1 $traces); do
    cp first.db "t$i.db"
    another_process "t$i.db"
    inputs+=("../t$i.db")
done

rows() {
    sqlite3 "$1" .dump || fail "$1 cannot be read"
}

# same NAME FOLDER: what is in FOLDER is what the merge without an end made, and nothing else is there.
same() {
    rows "$2/all.db" | diff -q wanted.rows - >differences || fail "$1: the trace is another one"
    (cd "$2" && "$rtl" summary --json all.db) | diff -q wanted.summary - >differences || fail "$1: the summary is another one"
    (cd "$2" && "$rtl" check --deep all.db || true) | diff -q wanted.check - >differences || fail "$1: the check says something else"
    equal "$1: what is in the folder" "$(ls "$2")" all.db
}

mkdir whole
(cd whole && "$rtl" merge all.db "${inputs[@]}" >../whole.out) || fail "the traces cannot be merged"
rows whole/all.db >wanted.rows
equal "traces in it" "$(ask whole/all.db "SELECT count(*) FROM processes")" $traces
equal "kernels in it" "$(ask whole/all.db "SELECT count(*) FROM kernels")" $((30000 * traces))
(cd whole && "$rtl" summary --json all.db) >wanted.summary
(cd whole && "$rtl" check --deep all.db) >wanted.check || true # it has no ledger: nobody recorded it
same "the merge itself" whole

# Killed at random moments, until it is done; each time it goes on where it was, or behind it.
start=$(date +%s%N)
(mkdir timed && cd timed && "$rtl" merge all.db "${inputs[@]}" >../timed.out)
takes=$((($(date +%s%N) - start) / 1000))
taken() {
    sqlite3 "$1" 'SELECT count(*) FROM unfinished_inputs WHERE processes IS NOT NULL' 2>/dev/null || echo 0
}
whole=0
for round in $(seq 1 "${RTL_TEST_KILLS:-4}"); do
    for signal in KILL TERM INT; do
        folder=killed-$round-$signal
        before=0 kills=0 stopped=0
        mkdir "$folder"
        while :; do
            # SIGINT is ignored in what a script starts beside itself.
            env -C "$folder" --default-signal=INT "$rtl" merge --resume all.db "${inputs[@]}" >merge.out 2>merge.err &
            pid=$!
            sleep "$(printf '0.%06d' $((RANDOM * 32768 % (takes < 900000 ? takes : 900000))))"
            # What is still the shell, or env, is not to be tested.
            [ $kills -ge 12 ] || [ "$(readlink "/proc/$pid/exe")" != "$rtl" ] || kill -$signal $pid 2>/dev/null || true
            status=0
            wait $pid 2>wait.err || status=$?
            [ $status != 0 ] || break
            [ $status -gt 128 ] || fail "$folder: status $status: $(cat merge.err)"
            kills=$((kills + 1))
            [ ! -e "$folder/all.db" ] || fail "$folder: there is a trace"
            if [ -e "$folder/all.db.partial" ]; then
                # Whole it is where it was about to get its name.
                if "$rtl" info "$folder/all.db.partial" >info.out 2>info.err; then
                    equal "$folder: processes of what can be read" "$(ask "$folder/all.db.partial" "SELECT count(*) FROM processes")" $traces
                    now=$traces whole=$((whole + 1))
                else
                    grep -q "'rtl merge --resume'.* goes on with it" info.err || fail "$folder: $(cat info.err)"
                    now=$(taken "$folder/all.db.partial")
                fi
                [ "$now" -ge "$before" ] || fail "$folder: $now traces are in, and $before were"
                was=$before before=$now stopped=$((stopped + (now > 0)))
                [ "$signal" = KILL ] || [ "$now" = "$was" ] || grep -q "all.db.partial' is kept: 'rtl merge --resume' goes on with it" merge.err ||
                    fail "$folder: it is not told: $(cat merge.err)"
            fi
        done
        [ "$before" = 0 ] || grep -q " had been taken in before" merge.err || fail "$folder: it is not told that it goes on"
        rm -rf "$folder"/all.db.partial.?????? # what rtl_file_create was about to make
        same "$folder" "$folder"
        echo "$folder: $kills times ended, $stopped with something in it, $before of $traces taken in at the last of them"
    done
done
echo "$whole times ended with nothing but the name missing"

# Of one that is whole already: it gets its name, if it is of these.
cp whole/all.db killed-1-INT/all.db.partial
rm killed-1-INT/all.db
status=0
(cd killed-1-INT && "$rtl" merge -f all.db "${inputs[@]}") >named.out 2>named.err || status=$?
equal "status of another merge" $status 2
grep -q "'all.db.partial' is a trace, which a merge was about to give its name: --resume does" named.err || fail "it is not told: $(cat named.err)"
(cd killed-1-INT && "$rtl" merge --resume all.db "${inputs[@]:1}") >named.out 2>named.err || status=$?
grep -q "cannot go on with all.db.partial: it is a whole trace, and not of these" named.err || fail "it is not told: $(cat named.err)"
(cd killed-1-INT && "$rtl" merge --resume all.db "${inputs[@]}" >../named.out) || fail "it does not get its name"
diff whole.out named.out || fail "it says something else"
same "named" killed-1-INT

# Without space, again and again with more of it. Nothing that was there is lost.
mkdir full
size=$(($(stat -c %s whole/all.db) / 1024))
for share in 10 40 70 95; do
    status=0
    (cd full && ulimit -f $((size * share / 100)) && exec "$rtl" merge --resume -o all.db "${inputs[@]}" >../full.out 2>../full.err) || status=$?
    equal "status without space" $status 2
    [ $share = 10 ] || grep -q "'all.db.partial' is kept: 'rtl merge --resume' goes on with it" full.err || fail "it is not told: $(cat full.err)"
done
[ "$(taken full/all.db.partial)" -gt 10 ] || fail "no traces are in after 95 % of the space"

# refused SENTENCE ARGUMENT...: in the folder of the half of a merge, which stays as it is.
refused() {
    local status=0 before
    before=$(md5sum <full/all.db.partial)
    (cd full && "$rtl" merge "${@:2}") >refused.out 2>refused.err || status=$?
    equal "status of rtl merge ${*:2}" $status 2
    equal "what rtl merge ${*:2} says" "$(cat refused.err)" "rtl: $1"
    equal "what is there after rtl merge ${*:2}" "$(md5sum <full/all.db.partial)" "$before"
}
refused "'all.db.partial' is of a merge that has not ended: --resume goes on with it, -f begins anew" all.db "${inputs[@]}"
refused "cannot go on with all.db.partial: it is of $traces traces, not of 3" --resume all.db "${inputs[@]:0:3}"
refused "cannot go on with all.db.partial: ../t2.db is not, or not any more, the trace that was ../t1.db there" \
    --resume all.db "${inputs[1]}" "${inputs[0]}" "${inputs[@]:2}"
refused "cannot go on with all.db.partial: it was begun with --align auto, not --align time-of-day" \
    --resume --align time-of-day all.db "${inputs[@]}"
cp t3.db t3.kept
sqlite3 t3.db "UPDATE kernel_chunks SET checksum = checksum + 1 WHERE chunk = 1"
refused "cannot go on with all.db.partial: ../t3.db is not, or not any more, the trace that was ../t3.db there" --resume all.db "${inputs[@]}"
cp t3.kept t3.db
cp full/all.db.partial half.db
sqlite3 full/all.db.partial "UPDATE unfinished_merge SET version = '0.1'"
refused "cannot go on with all.db.partial: it was begun by rtl 0.1, and this one is $("$rtl" --version | sed -n '1s/^rtl //p')" \
    --resume all.db "${inputs[@]}"
cp half.db full/all.db.partial
status=0
"$rtl" summary full/all.db.partial >summary.out 2>summary.err || status=$?
equal "status of a summary of the half" $status 2

# The same traces under other names; a merge that another one is at.
for i in $(seq 1 $traces); do ln "t$i.db" "full/r$i.db"; done
flock full/all.db.partial bash -c 'cd full && "$1" merge --resume all.db "${@:2}"; test $? = 2' locked "$rtl" "${inputs[@]}" 2>locked.err || fail "two merges write one trace"
grep -q "another rtl merge is writing it" locked.err || fail "it is not told: $(cat locked.err)"
rm full/r*.db
(cd full && "$rtl" merge --resume all.db "${inputs[@]}" >../full.out 2>../full.err) || fail "it does not go on: $(cat full.err)"
same "without space" full

# -f begins anew. What is not the half of a merge stays.
cp half.db full/all.db.partial
(cd full && "$rtl" merge -f all.db "${inputs[@]}" >../full.out) || fail "it does not begin anew"
same "anew" full
echo precious >full/all.db.partial
rm full/all.db
refused "'all.db.partial' is in the way: it is not a merge of yours that was ended" -f all.db "${inputs[@]}"
rm full/all.db.partial

# Damage is nothing that goes away by itself.
sqlite3 t9.db "UPDATE kernel_chunks SET checksum = checksum + 1 WHERE chunk = 1"
status=0
(cd full && "$rtl" merge all.db "${inputs[@]}") >damaged.out 2>damaged.err || status=$?
equal "status with a damaged trace" $status 2
equal "what it leaves" "$(ls full)" ""

# On a terminal it says how far it is.
script -qec "'$rtl' merge shown.db t1.db t2.db t3.db" terminal.out >/dev/null || fail "no merge on a terminal"
grep -q 'rtl: \[#* *\] 0 of 3 traces' terminal.out && grep -q 'rtl: \[#* *\] statistics' terminal.out || fail "no progress on a terminal: $(cat -v terminal.out)"
[ ! -s whole.err ] || fail "something is said where no terminal is"
