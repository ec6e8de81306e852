#!/usr/bin/env bash
# disk.sh BUILD: the disk is full, for a moment or for good, the file's folder disappears, the file cannot be made: the
# recorded program ends as it does alone, with its own output; rtl says one sentence that names the file; what was stored
# before is readable.
source "$(dirname "$0")/../e2e/lib.sh"
storm=("$bin/hsa_storm" --dispatches 20000 --threads 2 --queues 2)
LD_PRELOAD=$soft "${storm[@]}" >alone.out || fail "the program alone ended with status $?"

# recorded NAME=VALUE...: records the program, with faults in rtl's own calls about FOLDER/t.db.
recorded() {
    rm -rf folder
    mkdir folder
    status=0
    env LD_PRELOAD="$build/tests/lib/libfaults.so" FAULTS_PROGRAM=/bin/rtl FAULTS_PATH="$scratch/folder/t.db" "$@" \
        "$rtl" trace -q --gpu soft -o "$scratch/folder/t.db" -- "${storm[@]}" >run.out 2>run.err || status=$?
    without_remarks run.err
}

# unharmed WHAT: the program was not.
unharmed() {
    equal "$1: status" "$status" 0
    cmp -s run.out alone.out || fail "$1: the program's output is another one"
}

# said WHAT PATTERN: one sentence, with the file's name.
said() {
    equal "$1: lines on stderr" "$(wc -l <run.err)" 1
    grep -q "^rtl: .*folder/t\.db.*$2" run.err || fail "$1: the sentence is not about folder/t.db and '$2'"
}

recorded FAULTS_COUNT="$scratch/count"
unharmed "no fault"
[ ! -s run.err ] || fail "no fault: something was said"
calls=$(cat count)
[ "$calls" -gt 50 ] || fail "rtl makes only $calls calls about its file"

# Full from some call on. The first calls make the file, the last ones close it.
lost=0 refused=0
for at in 1 $((calls / 8)) $((calls / 3)) $((calls / 2)) $((calls * 2 / 3)) $((calls - 10)); do
    recorded FAULTS_ERROR=28 FAULTS_AT="$at"
    if [ "$status" = 2 ]; then
        refused=$((refused + 1))
        [ ! -s run.out ] || fail "full from call $at: the program was started"
        [ ! -e folder/t.db ] || fail "full from call $at: a file was left"
        said "full from call $at" "\(full\|No space left\)"
        continue
    fi
    unharmed "full from call $at"
    if grep -q 'is whole only with .*/t\.db-wal beside it' run.err; then
        said "full from call $at" "full"
        "$rtl" check folder/t.db >check.out 2>&1 || fail "full from call $at: the trace is not whole with its log"
    elif [ -s run.err ]; then
        lost=$((lost + 1))
        said "full from call $at" "."
        ! "$rtl" check folder/t.db >check.out 2>&1 || fail "full from call $at: the trace is called complete"
    fi
    "$rtl" sql folder/t.db 'SELECT count(*) FROM kernels' >count.out 2>&1 || fail "full from call $at: the trace cannot be read"
done
[ "$refused" -gt 0 ] && [ "$lost" -gt 0 ] || fail "the disk was never full: $refused traces refused, $lost not whole"

# Another error is told as what it is: a broken disk (EIO), a quota that is used up (EDQUOT).
for error in "5 Input/output error" "122 Disk quota exceeded"; do
    told=0
    for at in 2 $((calls / 8)) $((calls / 2)) $((calls * 3 / 4)); do
        recorded FAULTS_ERROR="${error%% *}" FAULTS_AT="$at"
        [ "$status" = 2 ] || unharmed "error ${error%% *} from call $at"
        [ -s run.err ] || continue
        said "error ${error%% *} from call $at" "${error#* }"
        told=$((told + 1))
    done
    [ "$told" -ge 2 ] || fail "${error#* } was told $told times only"
done

# Full for a moment, after the file was made: nothing is missing, or it is said.
for at in $((calls / 2)) $((calls * 3 / 4)); do
    recorded FAULTS_ERROR=28 FAULTS_AT="$at" FAULTS_CALLS=2
    [ "$status" = 2 ] && continue
    unharmed "full for a moment at call $at"
    if [ -s run.err ]; then
        said "full for a moment at call $at" "."
    else
        "$rtl" check folder/t.db >check.out 2>&1 || fail "full for a moment at call $at: the trace is not complete"
    fi
done

# The folder disappears while the program runs.
mkdir gone
status=0
"$rtl" trace -q --gpu soft -o gone/t.db -- sh -c 'rm -rf gone; echo mine; exit 7' >run.out 2>run.err || status=$?
equal "folder removed: status" "$status" 7
equal "folder removed: output" "$(cat run.out)" mine
equal "folder removed: lines on stderr" "$(wc -l <run.err)" 1
grep -q 'gone/t\.db.*removed' run.err || fail "folder removed: the sentence does not say so"
[ ! -e gone ] || fail "the folder came back"

# A trace that cannot be replaced stays what it is, be it the tables that find no room or what they first hold.
"$rtl" trace -q --gpu soft -o old.db -- true
cp old.db before.db
for at in 1 4; do
    status=0
    LD_PRELOAD=$build/tests/lib/libfaults.so FAULTS_PROGRAM=/bin/rtl FAULTS_PATH=$scratch/old.db. FAULTS_ERROR=28 FAULTS_AT=$at \
        "$rtl" trace -q -f --gpu soft -o "$scratch/old.db" -- true 2>run.err || status=$?
    equal "replacing on a disk that is full from call $at: status" "$status" 2
    cmp -s old.db before.db || fail "full from call $at: the old trace was changed"
    equal "full from call $at: what is beside it" "$(ls old.db*)" old.db
done
