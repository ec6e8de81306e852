#!/usr/bin/env bash
# What commands write their results to: devices are written to, files get their names when they are whole, nothing that was there is lost.
source "$(dirname "$0")/lib.sh"
umask 022
trap 'jobs -p | xargs -r kill 2>/dev/null; rm -rf "$scratch"' EXIT # who waits for what was not written

# refused PATTERN COMMAND...: ends with status 2 and one sentence that has the pattern.
refused() {
    local status=0
    "${@:2}" >refused.out 2>refused.err || status=$?
    equal "status of '${*:3}'" "$status" 2
    equal "lines of '${*:3}'" "$(wc -l <refused.err)" 1
    grep -q -F -e "$1" refused.err || fail "'${*:3}' says: $(cat refused.err)"
}

# fine COMMAND...
fine() {
    "$@" >fine.out 2>fine.err || fail "'${*:2}' ended with status $?"
}

# nothing_left: no file that is not whole.
nothing_left() {
    [ -z "$(find . tmp -regex '.*\.[A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9]')" ] || fail "something is left: $(find .)"
}

# sum FILE...
sum() {
    cat "$@" | sha256sum
}

mkdir tmp
export TMPDIR=$scratch/tmp
formats="chrome perfetto csv html rpd rocpd rocprofv3"
record=("$rtl" trace -q --gpu soft)
fine "${record[@]}" -o t.db -- true
trace=$(sum t.db)
fine "$rtl" export t.db -F rpd -o old.rpd

# A recording of kernels, for what takes a while.
fine env SOFTGPU_PLUGINS="$build/tests/lib/e2e_plugin.so" "${record[@]}" -m full -o storm.db -- "$build/tests/bin/hsa_storm" --dispatches 30000 \
    --batch 16 --threads 2 --queues 2

# Files that were made are told, once each and on the standard output alone; what goes there, or to a device, has no such line.
mkdir told
for format in $formats; do
    equal "what $format tells of a file" "$("$rtl" export t.db -F "$format" -o told/"$format")" told/"$format"
    [ -s told/"$format" ] || fail "$format tells of a file that is not there"
done
(cd told && cp ../t.db own.db && for format in $formats; do "$rtl" export own.db -F "$format" -f; done) >told.out
# Each format has a name of its own: one export does not replace another's.
equal "files of all formats" "$(find told -name 'own*' ! -name own.db | wc -l)" "$(wc -w <<<"$formats")"
equal "files that are told" "$(sort -u told.out | xargs)" "$(find told -name 'own*' ! -name own.db -printf '%f\n' | sort | xargs)"
"$rtl" export storm.db -F chrome --split-size 1M -o told/part.json >parts.out || fail "parts"
[ "$(wc -l <parts.out)" -gt 2 ] || fail "there are no parts"
equal "parts that are told" "$(sort parts.out | xargs)" "$(find told -name 'part-*.json' | sort | xargs)"
# Packed: the same within, under a name that says it.
for format in chrome perfetto csv rocprofv3; do
    "$rtl" export storm.db -F $format -o plain >packed.out
    packed=$("$rtl" export storm.db -F $format -z)
    [[ $packed == storm*.gz ]] || fail "$format packed is called $packed"
    equal "$format packed" "$(zcat "$packed" | sum)" "$(sum plain)"
    equal "$format packed on the standard output" "$("$rtl" export storm.db -F $format -z -o - | zcat | sum)" "$(sum plain)"
    rm plain "$packed"
done
"$rtl" export storm.db -o told/of.json.gz --split-size 1M >packed.out
equal "names of packed parts" "$(head -n 2 packed.out | xargs)" "told/of-1.json.gz told/of-2.json.gz"
zcat told/of-2.json.gz | python3 -c 'import json, sys; json.load(sys.stdin)["traceEvents"]' || fail "a packed part is no JSON"
for format in rpd rocpd html; do
    refused=0
    "$rtl" export storm.db -F $format -z >packed.out 2>packed.err || refused=$?
    equal "$format packed" "$refused $(cat packed.err)" "2 rtl: --gzip: nobody reads $format packed"
    refused=0
    "$rtl" export storm.db -F $format -o told/$format.gz >packed.out 2>packed.err || refused=$?
    equal "$format under a packed name" "$refused $(cat packed.err)" "2 rtl: -o told/$format.gz: nobody reads $format packed"
done
# Without rows of counters: nothing else is missing.
"$rtl" export storm.db -F chrome -o told/counters.json >packed.out
"$rtl" export storm.db -F chrome --no-counters -o told/without.json >packed.out
"$rtl" export storm.db -F perfetto -o told/counters.pftrace >packed.out
"$rtl" export storm.db -F perfetto --no-counters -o told/without.pftrace >packed.out
python3 - <<'END' || fail "counters are left out, and what else?"
import json
def events(name):
    return [event for event in json.load(open(f"told/{name}.json"))["traceEvents"] if event["ph"] != "C"]
counters, without = (open(f"told/{name}.pftrace", "rb").read() for name in ("counters", "without"))
assert events("counters") == events("without")
assert b"depth" in counters and b"depth" not in without and len(without) < len(counters)
END
"$rtl" export storm.db -F csv -o told/whole.csv >csv.out
for place in - /dev/stdout /dev/fd/1; do
    equal "rows on $place" "$("$rtl" export storm.db -F csv -o $place | sum)" "$(sum told/whole.csv)"
done
"$rtl" export storm.db -F rpd -o /dev/fd/7 7>told/seven.rpd >seven.out || fail "rpd to a descriptor"
[ ! -s seven.out ] || fail "a descriptor is told as a file"
! "$rtl" export t.db -F csv -o told/csv >again.out 2>again.err || fail "a file was replaced"
[ ! -s again.out ] || fail "a file that was not made is told"
equal "the page of rtl view" "$("$rtl" view -n -o told/page.html t.db)" told/page.html
rm -r told

# FIFOs, and a device where one can be made: written to, and still there.
for format in $formats; do
    fine "$rtl" export t.db -F "$format" -o plain-"$format"
    mkfifo fifo
    cat fifo >got &
    fine "$rtl" export t.db -F "$format" -o fifo
    wait $!
    [ -p fifo ] || fail "$format took the place of a FIFO"
    [ -s got ] || fail "$format wrote nothing to a FIFO"
    case $format in
    rpd | rocpd) equal "what $format wrote to a FIFO" "$(sqlite3 got 'PRAGMA integrity_check')" ok ;;
    *) cmp -s got plain-"$format" || fail "$format wrote something else to a FIFO" ;;
    esac
    cat fifo >got &
    fine "$rtl" export t.db -f -F "$format" -o fifo
    wait $!
    [ -p fifo ] || fail "$format -f took the place of a FIFO"
    rm fifo
    "$rtl" export t.db -F "$format" -o /dev/stdout 2>fine.err | cat >got
    [ "$(wc -c <got)" -gt 0 ] || fail "$format wrote nothing to /dev/stdout"
    : >got
    fine "$rtl" export t.db -F "$format" -o /dev/fd/7 7>>got
    [ -s got ] || fail "$format wrote nothing to /dev/fd/7"
done
status=0
"$rtl" export t.db -F csv -o - 2>fine.err >&- || status=$?
equal "status where the standard output is closed" "$status" 2
equal "the trace" "$(sum t.db)" "$trace"
nothing_left
if mknod null c 1 3 2>/dev/null && mknod full c 1 7 2>/dev/null && { echo >null; } 2>/dev/null; then
    ln -s null link
    for format in $formats; do
        fine "$rtl" export t.db -f -F "$format" -o null
        fine "$rtl" export t.db -F "$format" -o link
        refused "full" "$rtl" export t.db -f -F "$format" -o full
    done
    fine "$rtl" view t.db -n -o null
    fine "$rtl" merge -f null t.db storm.db
    fine "$rtl" import old.rpd -f -o null
    refused "not a regular file" "${record[@]}" -f -o null -- true
    refused "split-size" "$rtl" export t.db -F csv --split-size 1M -o null
    [ -c null ] && [ -c full ] && [ -h link ] || fail "a device was replaced"
    [ ! -e null-1 ] || fail "files were made beside a device"
    nothing_left
    rm null full link
fi

# What is read is not written, by whatever name; nor what SQLite has beside it.
ln t.db hard.db
ln -s t.db soft.db
mkdir folder
for format in $formats; do
    for name in t.db ./t.db folder/../t.db hard.db soft.db "$PWD/t.db"; do
        refused "to be read" "$rtl" export -f -F "$format" -o "$name" t.db
    done
    refused "to be read" "$rtl" export -f -F "$format" -o t.db hard.db
done
for name in t.db hard.db soft.db; do
    refused "to be read" "$rtl" view -n -f -o "$name" t.db
    refused "to be written" "$rtl" merge -f "$name" t.db storm.db
done
refused "to be read" "$rtl" import -f -o old.rpd ./old.rpd
refused "to be read" "$rtl" export t.db -F csv -o /dev/fd/7 7>>t.db
: >t.db-wal
refused "to be read" "$rtl" export -f -F csv -o t.db-wal t.db
rm t.db-wal hard.db soft.db
equal "the trace" "$(sum t.db)" "$trace"
nothing_left

# What is not of the same kind stays without -f, and a command's own page is replaced.
echo precious >mine
for format in $formats; do
    refused "'mine' exists; -f replaces it" "$rtl" export t.db -F "$format" -o mine
done
cp t.db other.db
refused "'other.db' exists; -f replaces it" "$rtl" view t.db -n -o other.db
refused "'mine' exists; -f replaces it" "$rtl" view t.db -n -o mine
refused "'mine' exists; -f replaces it" "$rtl" bench --gpu soft --html mine -- true
# What -f would not replace is not offered.
# shellcheck disable=SC2086
for force in "" -f; do
    refused "not a trace" "$rtl" merge $force mine t.db
    refused "not a trace" "$rtl" import $force -o mine old.rpd
    refused "not a trace" "${record[@]}" $force -o mine -- true
    refused "folder" "${record[@]}" $force -o tmp -- true
done
# What SQLite has beside a trace, or may have.
for suffix in -wal -shm -journal; do
    refused "'storm.db$suffix' is where SQLite keeps what is new in the database" "$rtl" export t.db -f -F csv -o storm.db$suffix
    refused "'storm.db$suffix' is where SQLite keeps what is new in the database" "$rtl" view t.db -n -f -o storm.db$suffix
done
refused "'t.db' exists; -f replaces it" "$rtl" import -o t.db old.rpd
refused "t.db exists: choose another name with -o, or replace it with -f" "${record[@]}" -o t.db -- true
equal "a file of somebody's" "$(cat mine)" precious
equal "another trace" "$(sum other.db)" "$trace"
fine "$rtl" view t.db -n -o page.html
fine "$rtl" view t.db -n -o page.html
fine "$rtl" view t.db -n -f -o other.db
grep -q '^<!doctype html>' other.db || fail "view -f made no page"

# Links are followed and stay.
echo precious >folder/target
ln -s folder/target link
ln -s folder/new dangling
fine "$rtl" export t.db -f -F csv -o link
fine "$rtl" export t.db -F csv -o dangling
fine "${record[@]}" -o dangling.db -- true
rm dangling.db
ln -s folder/new.db dangling.db
fine "${record[@]}" -o dangling.db -- true
[ -h link ] && [ -h dangling ] && [ -h dangling.db ] || fail "a link was replaced"
cmp -s folder/target plain-csv && cmp -s folder/new plain-csv && [ -s folder/new.db ] || fail "the end of a link has something else"
ln -s loop loop
refused "loop" "$rtl" export t.db -f -F csv -o loop

# Modes: a trace is private, an export is what the umask says; what is replaced keeps its own.
fine "${record[@]}" -o private.db -- true
equal "mode of a trace" "$(stat -c %a private.db)" 600
for format in $formats; do
    for mask in 022 077 002; do
        (umask $mask && "$rtl" export t.db -f -F "$format" -o "mode-$mask" 2>fine.err) || fail "$format with umask $mask"
        equal "mode of $format" "$(stat -c %a mode-$mask)" "$(printf %o $((0666 & ~mask)))"
        rm mode-$mask
    done
    echo old >kept
    chmod 640 kept
    fine "$rtl" export t.db -f -F "$format" -o kept
    equal "mode of what $format replaced" "$(stat -c %a kept)" 640
done
if [ "$(id -u)" = 0 ]; then
    chown 12345:23456 kept
    fine "$rtl" export t.db -f -F csv -o kept
    equal "owner of what was replaced" "$(stat -c %u:%g:%a kept)" 12345:23456:640
fi
fine "$rtl" view t.db -n -o mode.html
equal "mode of a page" "$(stat -c %a mode.html)" 644

# A database takes nothing over from what SQLite left beside the one before.
fine "$rtl" export t.db -f -F rpd -o data.rpd
for suffix in -wal -shm -journal; do
    echo stale >data.rpd$suffix
done
fine "$rtl" export t.db -f -F rpd -o data.rpd
equal "a database that was replaced" "$(sqlite3 data.rpd 'PRAGMA integrity_check')" ok
[ ! -e data.rpd-journal ] || fail "a journal is left beside another database"

# What fails, or is ended, leaves what was there and nothing else.
for format in $formats; do
    refused "folder" "$rtl" export t.db -f -F "$format" -o folder
    refused "nowhere/x" "$rtl" export t.db -F "$format" -o nowhere/x
    echo precious >whole
    (ulimit -f 1 && refused "" "$rtl" export storm.db -f -F "$format" -o whole) || fail "$format past the limit of sizes"
    equal "what was there before $format failed" "$(cat whole)" precious
done
refused "empty" "$rtl" export t.db -F csv -o ''
mkfifo full
exec 8<>full # nobody reads
fine "$rtl" export storm.db -F chrome -o reference
for number in TERM HUP PIPE; do
    # Under nohup, say, SIGHUP is ignored from the start.
    env --default-signal=HUP "$rtl" export storm.db -F rpd -o full &
    pid=$!
    within 20 bash -c "compgen -G 'tmp/rtl.??????' >/dev/null" || fail "no export began"
    kill -$number $pid
    wait $pid && fail "an export that waits ended well"
    nothing_left
    env --default-signal=HUP "$rtl" export storm.db -f -F chrome -o whole &
    pid=$!
    within 20 bash -c "compgen -G 'whole.??????' >/dev/null || ! kill -0 $pid" || fail "no export began"
    kill -$number $pid || true
    # It may have had its name already, and is whole then.
    wait $pid || [ "$(head -c 9 whole)" = precious ] || cmp -s whole reference || fail "an export that $number ended has lost what was there"
    echo precious >whole
done 2> >(tee killed.err | grep '^FAILED' >&2) # where the shell tells who was killed
exec 8>&-
rm full
nothing_left

# A time in which nothing happened is told, and makes no file; a trace that holds nothing makes one that holds nothing.
for format in $formats; do
    for words in "--from 1h" "--to 1" "--from 1h --to 2h"; do
        status=0
        # shellcheck disable=SC2086
        "$rtl" export storm.db -F "$format" $words -o window >refused.out 2>refused.err || status=$?
        equal "status of $format $words" "$status" 1
        grep -q -- "--from and --to" refused.err || fail "$format $words says: $(cat refused.err)"
        [ ! -e window ] || fail "$format $words made a file"
    done
    fine "$rtl" export t.db -F "$format" --from 1h -o window
    rm window
done
status=0
"$rtl" view storm.db -n --from 1h >refused.out 2>refused.err || status=$?
equal "status of a page of nothing" "$status" 1

# A recording that cannot begin leaves the one before, with what its dead recorder left beside it.
cp t.db keep.db
printf 'log' >keep.db-wal
printf '#!/nowhere/interpreter\n' >broken
chmod +x broken
kept=$(sum keep.db keep.db-wal)
for name in keep.db link.db; do
    ln -sf keep.db link.db
    status=0
    "${record[@]}" -f -o $name -- ./broken >refused.out 2>refused.err || status=$?
    equal "status of a program that cannot start" "$status" 127
    [ -h link.db ] || fail "a link was lost"
    equal "the trace before" "$(sum keep.db keep.db-wal)" "$kept"
done
"${record[@]}" -f -o 'keep-%p.db' -- ./broken >refused.out 2>refused.err && fail "a broken program was run"
[ -z "$(find . -name 'keep-*')" ] || fail "a recording that never began left a file"
ln -s folder/never.db never.db
"${record[@]}" -o never.db -- ./broken >refused.out 2>refused.err && fail "a broken program was run"
[ -h never.db ] && [ ! -e folder/never.db ] || fail "a recording that never began left a file behind a link"
nothing_left
rm -f keep.db-wal
fine "${record[@]}" -f -o keep.db -- true
[ "$(sum keep.db)" != "$trace" ] || fail "the trace was not replaced"
equal "what is beside it" "$(find . -name 'keep*')" ./keep.db

# A trace that is being recorded is replaced by nothing.
"${record[@]}" -o live.db -- sleep 60 >live.out 2>live.err &
recorder=$!
within 20 test -e live.db || fail "no recording began"
within 20 pgrep -P $recorder sleep >/dev/null || fail "the program did not start"
# shellcheck disable=SC2086
for force in "" -f; do
    for format in $formats; do
        refused "is recording into" "$rtl" export t.db $force -F "$format" -o live.db
    done
    refused "is recording into" "$rtl" view t.db -n $force -o live.db
    refused "recorded" "$rtl" merge $force live.db t.db
    refused "recorded" "$rtl" import $force -o live.db old.rpd
    refused "is recording into" "${record[@]}" $force -o live.db -- true
done
kill -TERM $recorder
wait $recorder 2>killed.err || true
equal "the trace that was recorded" "$(sqlite3 live.db 'PRAGMA integrity_check')" ok
nothing_left

# Nor one whose recorder was killed: it is all that there is of it. A merge of such traces is made again.
"${record[@]}" -o killed.db -- sleep 60 >live.out 2>live.err &
recorder=$!
within 20 test -e killed.db || fail "no recording began"
within 20 pgrep -P $recorder sleep >/dev/null || fail "the program did not start"
program=$(pgrep -P $recorder sleep)
kill -KILL $recorder
wait $recorder 2>killed.err || true
kill "$program" 2>killed.err || true
refused "its recorder was killed" "$rtl" merge -f killed.db t.db
fine "$rtl" merge whole.db killed.db t.db
refused "exists" "$rtl" merge whole.db killed.db t.db
fine "$rtl" merge -f whole.db killed.db t.db
rm killed.db* whole.db
nothing_left
