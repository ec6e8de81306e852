#!/usr/bin/env bash
# Each mistake on the command line has a sentence that names it, and its status.
source "$(dirname "$0")/../common/wrong.sh"
docs=$(cd "$(dirname "$0")/../../docs" && pwd)
source "$(dirname "$0")/lib.sh"

# Commands.
equal "version" "$("$rtl" --version)" "$("$rtl" trace --version)"
"$rtl" --help | grep -q 'Usage: rtl COMMAND' || fail "there is no help"
"$rtl" >help.out 2>&1 && fail "rtl without a command ended well"
wrong 2 "sumary" "'summary'" -- "$rtl" sumary
wrong 2 "xyzzy" "--help" -- "$rtl" xyzzy
wrong 2 "--frob" -- "$rtl" --frob
wrong 2 "xyzzy" -- "$rtl" help xyzzy
# A program or a trace where a command is wanted, whatever it is called.
mkdir -p named
printf '#!/bin/sh\n' >named/info
chmod +x named/info
wrong 2 "'rtl trace -- named/info'" -- "$rtl" named/info
(cd named && wrong 2 "'rtl trace -- ./info'" -- "$rtl" ./info)
mv named/info named/summit
PATH=$PATH:$PWD/named wrong 2 "'rtl trace -- summit'" -- "$rtl" summit
wrong 2 "'rtl summary none.db'" -- "$rtl" none.db
# What other profilers call commands: what is named exists.
for pair in profile:trace run:trace launch:"trace --start-off" start:"ctl start" sessions:"ctl status" stats:summary open:view avail:"trace --metrics list"; do
    wrong 2 "'${pair%%:*}'" "'rtl ${pair#*:}'" -- "$rtl" "${pair%%:*}" led.db
done
# Options of other profilers, in front of a program too; a value does not hide them.
for option in --stats --stats=true -S --hip-trace --kernel-trace --sys-trace --hsa-trace --roctx-trace --memory-copy-trace -i -d --pmc \
    --output-format --plugin --output-directory --trace-start --list-avail -t -L --capture-range --force-overwrite --pid=1 -p; do
    wrong 2 "there is no '${option%%=*}'" -- "$rtl" trace "$option" x -- touch started
    wrong 2 "there is no '${option%%=*}'" "rtl trace" -- "$rtl" "$option" x touch started
done
wrong 2 "rtl summary FILE" -- "$rtl" trace --stats touch started
wrong 2 "mode full, the default" -- "$rtl" trace --hip-trace touch started
wrong 2 "--metrics NAME" -- "$rtl" trace -i counters.txt touch started
wrong 2 "-o FOLDER/NAME.db" "--duration" -- "$rtl" trace -q -d folder touch started
wrong 2 "'rtl export FILE -F FORMAT'" -- "$rtl" trace --output-format csv touch started
wrong 2 "there is no '-d'" -- "$rtl" trace --gpu soft -qd folder -- touch started
wrong 2 "--json" "csv" -- "$rtl" summary led.db --format csv
wrong 2 "unknown option '-o'" "rtl trace" -- "$rtl" -o x.db ./program
# -h is help where no option is called so, and the program's own behind its name.
for command in trace ctl summary steps ranks idle memory ranges timeline report diff info check sql view export import fleet merge index doctor bench demo "graph list" "graph show"; do
    # shellcheck disable=SC2086
    "$rtl" $command -h >h.out || fail "rtl $command -h ends with status $?"
    # shellcheck disable=SC2086
    "$rtl" $command --help | cmp -s - h.out || fail "rtl $command -h is not its --help"
done
wrong 2 "unknown option '-h'" -- "$rtl" summary -hj led.db
for command in trace ctl summary steps ranks idle memory graph timeline report diff info check sql export import fleet merge index doctor bench demo; do
    "$rtl" help "$command" | grep "Usage: rtl $command" >/dev/null || fail "rtl help $command does not help"
    "$rtl" "$command" --help | cmp -s - <("$rtl" help "$command") || fail "rtl $command --help is not rtl help $command"
    "$rtl" --help | grep "^  $command " >/dev/null || fail "rtl --help does not name $command"
done

# Trace.
printf '#!/bin/sh\n' >plain
mkdir folder
wrong 127 "no-such" -- "$rtl" trace --gpu soft -o a.db -- no-such
wrong 127 "./no-such" -- "$rtl" trace --gpu soft -o a.db -- ./no-such
wrong 126 "./plain" -- "$rtl" trace --gpu soft -o a.db -- ./plain
wrong 126 "./folder" -- "$rtl" trace --gpu soft -o a.db -- ./folder
wrong 2 "no program" -- "$rtl" trace --gpu soft -o a.db
wrong 2 "'fast'" "lite, standard, hip or full" -- "$rtl" trace -m fast --gpu soft -- touch started
wrong 2 "'hard'" "auto, soft or real" -- "$rtl" trace --gpu hard -- touch started
wrong 2 "'64X'" "--buffer" -- "$rtl" trace --gpu soft --buffer 64X -- touch started
wrong 2 "'1'" "--buffer" -- "$rtl" trace --gpu soft --buffer 1 -- touch started
wrong 2 "'-5M'" "--buffer" -- "$rtl" trace --gpu soft --buffer -5M -- touch started
wrong 2 "'soon'" "--delay" -- "$rtl" trace --gpu soft --delay soon -- touch started
wrong 2 "'-1'" "--duration" -- "$rtl" trace --gpu soft --duration -1 -- touch started
wrong 2 "--start-off" "--delay" -- "$rtl" trace --gpu soft --start-off --delay 1 -- touch started
wrong 2 "--start-off" "--delay" -- "$rtl" trace --gpu soft --delay 0 --start-off -- touch started
wrong 2 "''" "--sync" "HOST:PORT" -- "$rtl" trace --gpu soft --sync "" -- touch started
wrong 2 "'head:'" "--sync" "HOST:PORT" -- "$rtl" trace --gpu soft --sync head: -- touch started
wrong 2 "'head:70000'" "--sync" -- "$rtl" trace --gpu soft --sync head:70000 -- touch started
wrong 2 "'0.0.0.0'" "--sync" -- "$rtl" trace --gpu soft --sync 0.0.0.0 -- touch started
wrong 2 "'224.0.0.1'" "--sync" -- "$rtl" trace --gpu soft --sync 224.0.0.1 -- touch started
wrong 2 "'mpi:7000'" "--sync mpi" -- "$rtl" trace --gpu soft --sync mpi:7000 -- touch started
wrong 2 "--sync is given twice" -- "$rtl" trace --gpu soft --sync head --sync head -- touch started
wrong 2 "'l2_hitt'" "'l2_hit'" -- "$rtl" trace --gpu soft --metrics waves,l2_hitt -- touch started
wrong 2 "'SQ_WAVS'" "'SQ_WAVES'" -- "$rtl" trace --gpu soft --metrics SQ_WAVS -- touch started
wrong 2 "'FETCH_SIZE'" "'fetch_bytes'" -- "$rtl" trace --gpu soft --metrics waves,FETCH_SIZE -- touch started
wrong 2 "'FETCH_SIZE'" "in bytes and not in KB" -- "$rtl" trace --gpu soft --metrics FETCH_SIZE -- touch started
wrong 2 "'l2cachehit'" "'l2_hit'" -- "$rtl" trace --gpu soft --metrics l2cachehit -- touch started
wrong 2 "'TCC_HIT_sum'" "'TCC_HIT' here" -- "$rtl" trace --gpu soft --metrics TCC_HIT_sum -- touch started
# Names that are made of counters there, or mean something else: what is named is taken here.
wrong 2 "'VALUBusy'" SQ_ACTIVE_INST_VALU,GRBM_GUI_ACTIVE -- "$rtl" trace --gpu soft --metrics VALUBusy -- touch started
wrong 2 "'VFetchInsts'" "'vmem_reads_per_wave' here, with flat instructions" -- "$rtl" trace --gpu soft --metrics VFetchInsts -- touch started
for name in 'TCC_HIT[3]' TCC_HIT_max TCC_HIT_avr; do
    wrong 2 "'$name'" "'TCC_HIT' here, summed over all instances" -- "$rtl" trace --gpu soft --metrics "$name" -- touch started
done
"$rtl" trace --metrics list | sed -n '/^what other tools call/,$p' | sed 1,2d >elsewhere.out
[ "$(wc -l <elsewhere.out)" -ge 30 ] || fail "--metrics list has few names of other tools"
while read -r name here rest; do
    [ "$here" != "(KB)" ] || here=${rest%% *}
    wrong 2 "'$name'" "${here%,}" -- "$rtl" trace --gpu soft --metrics "$name" -- touch started
    wrong 2 none.db -- "$rtl" ranges none.db --metrics "${here%,}"
done <elsewhere.out
wrong 2 "'SQ_WAVES GRBM_COUNT'" "commas" -- "$rtl" trace --gpu soft --metrics 'SQ_WAVES GRBM_COUNT' -- touch started
wrong 127 "'GRBM_COUNT'" "commas" -- "$rtl" trace --gpu soft --metrics SQ_WAVES GRBM_COUNT -- touch started
wrong 2 "'xyzzy'" "--metrics list" -- "$rtl" trace --gpu soft --metrics xyzzy -- touch started
wrong 2 "--metrics" -- "$rtl" trace --gpu soft --metrics , -- touch started
wrong 2 "'all'" "kernel or range" -- "$rtl" trace --gpu soft --metrics waves --counting all -- touch started
wrong 2 "--counting" "--metrics" -- "$rtl" trace --gpu soft --counting kernel -- touch started
wrong 2 "waves_max" "--counting kernel" -- "$rtl" trace --gpu soft --metrics waves_max -- touch started
wrong 2 "--mode full" "--counting kernel" -- "$rtl" trace --gpu soft -m standard --metrics waves -- touch started
wrong 2 "RTL_QUEUE=interpose" "--metrics" -- env RTL_QUEUE=interpose "$rtl" trace --gpu soft --metrics waves -- touch started
wrong 2 "nowhere/a.db" -- "$rtl" trace --gpu soft -o nowhere/a.db -- touch started
wrong 2 "folder" -- "$rtl" trace --gpu soft -f -o folder -- touch started
echo precious >old.db
wrong 2 "old.db" "not a trace" -- "$rtl" trace --gpu soft -o old.db -- touch started
wrong 127 "no-such" -- "$rtl" trace --gpu soft -f -o old.db -- no-such
equal "the old file" "$(cat old.db)" precious
if [ ! -e /dev/kfd ]; then
    wrong 2 "/dev/kfd" "--gpu soft" -- "$rtl" trace -- touch started
    wrong 2 "/dev/kfd" "--gpu soft" -- "$rtl" trace --gpu real -- touch started
fi
LD_PRELOAD=$soft "$rtl" trace -q -o led.db true || fail "auto does not take the software GPU that it is led to"
wrong 2 "LD_PRELOAD" -- env LD_PRELOAD="$soft" "$rtl" trace --gpu real -- touch started
[ ! -e started ] || fail "a refused trace started the program"
[ ! -e a.db ] || fail "a refused trace left a file"

# An installation without its parts.
mkdir -p lone/bin lone/lib
cp "$rtl" lone/bin/rtl
wrong 2 "software GPU" -- lone/bin/rtl trace --gpu soft -- touch started
mkdir lone/lib/softgpu
touch lone/lib/softgpu/libsoftgpu.so
wrong 2 "librtl.so" -- lone/bin/rtl trace --gpu soft -- touch started
wrong 2 "rtl-demo-decode" -- lone/bin/rtl demo
# One whose path the runtime or the dynamic linker cuts. What lies at the cut path is not opened.
for cut in ' ' : ';' '"' '$'; do
    mkdir "l${cut}one"
    cp -r lone/bin lone/lib "l${cut}one"
    cp "$build/lib/librtl.so" "l${cut}one/lib"
    cp "$build/lib/softgpu/libsoftgpu.so" "l${cut}one/lib/softgpu"
    wrong 2 "'$cut' in its path" "librtl.so" -- "l${cut}one/bin/rtl" trace --gpu soft -m lite -- touch started
done
[ ! -e started ] || fail "a refused trace started the program"

# Reading.
for command in summary info check; do
    wrong 2 "no trace" -- "$rtl" "$command"
    wrong 2 "none.db" -- "$rtl" "$command" none.db
    wrong 2 "old.db" -- "$rtl" "$command" old.db
    wrong 2 "folder" -- "$rtl" "$command" folder
    wrong 2 "'b.db'" -- "$rtl" "$command" led.db b.db
done

# What does not fit, is named twice, or is of another kind.
mkfifo fifo
"$rtl" export led.db -F rpd -o led.rpd >made.out
wrong 2 "'99999999999'" "--top" -- "$rtl" summary led.db --top 99999999999
for number in 18446744073709551616 18446744073709551617 99999999999999999999; do
    for command in summary timeline "export -F csv -o none.csv" "view -n"; do
        # shellcheck disable=SC2086
        wrong 2 "'$number'" "--to" -- "$rtl" $command led.db --to $number
    done
    wrong 2 "'$number'" "--delay" -- "$rtl" trace --gpu soft --delay $number -- touch started
done
for file in fifo /dev/zero; do
    for command in summary info check timeline ranges index "graph list" "export -F csv -o none.csv" "merge a.db" "diff led.db" "import -o a.db"; do
        # shellcheck disable=SC2086
        wrong 2 "$file" "not a regular file" -- timeout 20 "$rtl" $command $file
    done
    wrong 2 "$file" "not a regular file" -- timeout 20 "$rtl" check led.db --truth $file
done
wrong 2 "standard output" "./-" -- "$rtl" merge - led.db
wrong 2 "standard output" "./-" -- "$rtl" import led.rpd -o -
wrong 2 "standard output" "./-" -- "$rtl" trace --gpu soft -o - -- touch started
wrong 2 "'now'" -- "$rtl" collect now
wrong 2 "'check'" -- "$rtl" help trace check
wrong 2 "empty" -- "$rtl" ctl start ''
wrong 2 "no time" "rtl ctl record TIME" -- "$rtl" ctl record
wrong 2 "'4711x'" "record" -- "$rtl" ctl record 4711x
wrong 2 "twice" -- "$rtl" ctl record 1s -d 2s
if [ -x "$build/bin/rtl-demo-decode" ]; then
    for count in 0 -1 x 1000001; do
        wrong 2 "'$count'" "--tokens" -- "$rtl" demo --tokens $count
    done
fi
[ ! -e - ] && [ ! -e none.csv ] && [ ! -e a.db ] && [ -p fifo ] || fail "what was refused was written"
rm fifo

# Bytes cut off, or put behind.
for bytes in 1 999; do
    head -c -$bytes led.db >cut.db
    head -c -$bytes led.rpd >cut.rpd
    { cat led.db && head -c $bytes /dev/zero; } >more.db
    wrong 2 cut.db damaged -- "$rtl" index cut.db
    for command in summary info check timeline ranges "view -n -o none.html" "graph list" "export -F csv -o none.csv" "merge a.db" "diff led.db" "diff --json led.db"; do
        # shellcheck disable=SC2086
        wrong 2 cut.db damaged -- "$rtl" $command cut.db
        # shellcheck disable=SC2086
        "$rtl" $command more.db >more.out 2>more.err || [ $? != 2 ] || [[ $command = timeline ]] || fail "'$command' does not read a trace with something behind it"
        grep -q "^rtl: more.db: the last $bytes byte" more.err || fail "'$command' does not tell what is behind a trace"
        rm -f none.csv none.html a.db
    done
    wrong 2 cut.db damaged -- "$rtl" sql cut.db 'SELECT 1'
    wrong 2 cut.rpd -- "$rtl" import cut.rpd -o a.db
    "$rtl" sql more.db 'SELECT 1' >more.out 2>more.err && grep -q "the last $bytes byte" more.err || fail "rtl sql does not tell what is behind a trace"
    [ ! -e a.db ] || fail "a cut trace was taken"
done
wrong 2 "'many'" "--top" -- "$rtl" summary led.db --top many
wrong 2 "'size'" "p99" -- "$rtl" summary led.db --sort size
wrong 2 "'soon'" "--from" -- "$rtl" summary led.db --from soon
wrong 2 "--to" "--from" -- "$rtl" summary led.db --from 2s --to 1s
wrong 2 "none.log" -- "$rtl" check led.db --truth none.log
wrong 2 "old.db" -- "$rtl" check led.db --truth old.db
wrong 2 "statement" -- "$rtl" sql led.db
wrong 2 "syntax error" -- "$rtl" sql led.db 'SELEKT 1'
wrong 2 "no such table: nowhere" -- "$rtl" sql led.db 'SELECT * FROM nowhere'
wrong 2 "none.db" -- "$rtl" sql none.db 'SELECT 1'
wrong 2 "no such table: nowhere" -- "$rtl" sql led.db nowhere
wrong 2 "--headings" "--json" -- "$rtl" sql led.db --headings --json 'SELECT 1'
# What users of sqlite3 and of other tools' databases type first.
wrong 2 "no such table: kernals, did you mean kernels?" -- "$rtl" sql led.db 'SELECT * FROM kernals'
wrong 2 "no such table: rang, did you mean ranges?" -- "$rtl" sql led.db rang
wrong 2 "no such table: nowhere; .tables names all" -- "$rtl" sql led.db nowhere
wrong 2 "no such column: nme; .schema TABLE" -- "$rtl" sql led.db 'SELECT nme FROM kernels'
wrong 2 "no such table: CUPTI_ACTIVITY_KIND_KERNEL; it is kernels here" -- "$rtl" sql led.db 'SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL'
wrong 2 "no such table: rocpd_region; it is api here" -- "$rtl" sql led.db rocpd_region
wrong 2 "there is no table 'nowhere', see .tables" -- "$rtl" sql led.db '.schema nowhere'
wrong 2 "'a b' is more than one table" -- "$rtl" sql led.db '.tables a b'
for command in '.headers on' '.mode csv' .quit .dump; do
    wrong 2 "'${command%% *}'" .tables --headings --json "'rtl export FILE -F csv'" -- "$rtl" sql led.db "$command"
done
wrong 2 "there is no '-header' here" --headings -- "$rtl" sql -header led.db top
wrong 2 "there is no '--header' here" --headings -- "$rtl" sql --header led.db top
wrong 2 "there is no '-csv' here" "'rtl export FILE -F csv" -- "$rtl" sql -csv led.db top
wrong 2 "there is no '-json' here" "it is --json" -- "$rtl" sql -json led.db top
"$rtl" sql led.db .tables >tables.out || fail "rtl sql .tables"
while read -r table; do
    equal "columns of $table" "$("$rtl" sql led.db ".schema $table" | grep "^$table|")" \
        "$table|$("$rtl" sql --headings led.db "SELECT * FROM $table LIMIT 0" | sed 's/|/, /g')"
done <tables.out
[ "$(wc -l <tables.out)" -ge 40 ] || fail "there are only $(wc -l <tables.out) tables"
! grep -q -e stored_ -e _chunks tables.out || fail ".tables has what is RTL's own"
sed -n '/shows the tables above, and the following/,/^`symbols` has/p' "$docs/format.md" | sed -n 's/^| \([a-z_]*\) |.*/\1/p' >documented.out
[ -s documented.out ] || fail "docs/format.md names no tables"
while read -r table; do
    grep -q -x "$table" tables.out || fail ".tables does not have $table, which docs/format.md has"
done <documented.out
equal "tables like a pattern" "$("$rtl" sql led.db '.tables kern%' | xargs)" "kernel kernel_counters kernel_stats kernels"
equal "tables in JSON" "$("$rtl" sql --json led.db .tables | jq -r '.[].name' | cmp - tables.out && echo same)" same
for table in top busy ledger; do
    equal "all of $table" "$("$rtl" sql --json led.db $table)" "$("$rtl" sql --json led.db "SELECT * FROM $table")"
done
wrong 2 "'2'" -- "$rtl" sql led.db SELECT 2
wrong 2 "no trace" -- "$rtl" export
wrong 2 "no format" -- "$rtl" export led.db
wrong 2 "no format" -- "$rtl" export led.db -o none.db
wrong 2 "'convert'" "rtl export" -- "$rtl" convert led.db
wrong 2 "'top'" "rtl sql FILE top" -- "$rtl" top led.db
wrong 2 "led.rpd" "rtl import led.rpd -o NEW.db" -- "$rtl" summary led.rpd
wrong 2 "'svg'" "chrome, perfetto" -- "$rtl" export led.db -F svg
wrong 2 "'json'" chrome rocprofv3 -- "$rtl" export led.db -F json
wrong 2 "'PFTRACE'" "it is perfetto" -- "$rtl" export led.db -F PFTRACE
wrong 2 "'sqlite'" "rpd and rocpd" -- "$rtl" export led.db -F sqlite
wrong 2 "there is no '--type'" "--format" -- "$rtl" export led.db --type sqlite
wrong 2 "csv" "chrome" -- "$rtl" export led.db -F chrome -F csv
wrong 2 "rpd" "chrome" -- "$rtl" export led.db --to chrome -F rpd
wrong 2 "'csvv'" "--format" -- "$rtl" export led.db --to csvv
wrong 2 "'csvv'" "perfetto" -- "$rtl" export led.db --format csvv
wrong 2 "'5x'" "no time for --to" -- "$rtl" export led.db -F csv --to 5x
wrong 2 "'mysql'" "clickhouse" -- "$rtl" export led.db --to mysql
"$rtl" export --help >help.out
grep -q -e '--to=TIME' help.out || fail "rtl export --to is not a time"
"$rtl" export led.db --to csv -F csv --table kernels -o - >twice.out || fail "one format that is named twice is none"
wrong 2 "'chrome'" "--to" -- "$rtl" view led.db -n -o none.html --to chrome
wrong 2 "--no-open" "--browser" -- "$rtl" view led.db -n --browser true -o none.html
wrong 2 "--port" "-o" -- "$rtl" view led.db -n --port 8080 -o none.html
wrong 2 "'80x'" "--port" -- "$rtl" view led.db -n --port 80x
wrong 2 "'65536'" "--port" -- "$rtl" view led.db -n --port 65536
[ ! -e none.html ] || fail "a refused view left a page"
wrong 2 "none.db" -- "$rtl" export none.db -F csv
wrong 2 "--url" -- "$rtl" export led.db --to clickhouse
wrong 2 "--url is not of the form" -- "$rtl" export led.db --to clickhouse --url ftp://host/
wrong 2 "does not answer" "http://127.0.0.1:1/default" -- env no_proxy='*' "$rtl" export led.db --to clickhouse --url http://a:b@127.0.0.1:1/
wrong 2 "--url is given several times" "--cluster" -- "$rtl" export led.db --to clickhouse --url http://a:1 --url http://b:1
wrong 2 "no filter goes with it" -- "$rtl" export led.db --to clickhouse --url http://a:1 --from 1s
wrong 2 "--jobs" "'0'" -- "$rtl" export led.db --to clickhouse --url http://a:1 --jobs 0
wrong 2 "'a b'" "--cluster" -- "$rtl" export led.db --to clickhouse --url http://a:1 --cluster "a b"
wrong 2 "--label" "'x'" -- "$rtl" export led.db --to clickhouse --url http://a:1 --label x
wrong 2 "-o: clickhouse makes no file" -- "$rtl" export led.db --to clickhouse --url http://a:1 -o x
wrong 2 "--label goes with --to clickhouse" -- "$rtl" export led.db -F csv --label a=b
wrong 2 "'everything'" "rtl fleet" -- "$rtl" fleet everything
wrong 2 "no server was named" -- "$rtl" fleet runs
wrong 2 "'hosts' is a second one" -- "$rtl" fleet runs hosts
wrong 2 "'now'" "--to" -- "$rtl" fleet --to now runs
wrong 2 "--before" -- "$rtl" fleet --url http://a:1 regressions
wrong 2 "--from" "'stragglers'" "{in_time}" -- "$rtl" fleet --from 2026-11-28 stragglers
wrong 2 "--kernel" "'idle'" "{of_kernel}" -- "$rtl" fleet --kernel x idle
wrong 2 "--from" "--to" -- "$rtl" fleet --from 2026-11-28 --to 2026-11-27 kernels
wrong 2 "--top 0" -- "$rtl" fleet -n 0 kernels
wrong 2 "--sql-dir none" "No such file" -- "$rtl" fleet --sql-dir none runs
wrong 2 "old.db" -- "$rtl" export old.db -F csv
wrong 2 "'b.db'" -- "$rtl" export led.db b.db -F csv
wrong 2 "'soon'" "--from" -- "$rtl" export led.db -F csv --from soon
wrong 2 "--to" "--from" -- "$rtl" export led.db -F csv --from 2s --to 1s
wrong 2 "--families" "csv" -- "$rtl" export led.db -F csv --families rules
wrong 2 "none" -- "$rtl" export led.db -F html --families none -o none.html
wrong 2 "--families" "twice" -- "$rtl" view -n led.db --families a --families b
wrong 2 "none" -- "$rtl" view -n led.db --families none
wrong 2 "'0'" "--split-size" -- "$rtl" export led.db -F csv --split-size 0
wrong 2 "'9X'" "--split-size" -- "$rtl" export led.db -F csv --split-size 9X
wrong 2 "--split-size" "html cannot be split" -- "$rtl" export led.db -F html --split-size 9M
wrong 2 "--split-size" "rpd repeats" "files of 9.0 KiB have no room for events" -- "$rtl" export led.db -F rpd --split-size 9K
wrong 2 "--split-size" "-o -" -- "$rtl" export led.db -F csv --split-size 9M -o -
wrong 2 "--per-rank" "-o -" -- "$rtl" export led.db -F csv --per-rank -o -
wrong 2 "--table" "chrome" -- "$rtl" export led.db -F chrome --table kernels
wrong 2 "'names'" "kernels, copies" -- "$rtl" export led.db -F csv --table names
wrong 2 "led.db" "process all: it has none" -- "$rtl" export led.db -F csv --process all
wrong 2 "led.db" "process 9" -- "$rtl" export led.db -F csv --process 9
wrong 2 "led.db" "rank 9" -- "$rtl" export led.db -F csv --rank 9
wrong 2 "nowhere/x.csv" -- "$rtl" export led.db -F csv -o nowhere/x.csv
[ -z "$(find . -name '*.csv*' -o -name '*.json*')" ] || fail "a refused export left a file"

# Each command that reads a trace, on each file that is none it could read. FILE is that, led.db one without kernels.
readers=("summary FILE" "info FILE" "check FILE" "check --deep FILE" "sql FILE SELECT" "export FILE --format csv" "graph list FILE" "graph show FILE 1"
    "graph launches FILE 1" "graph diff FILE 1 2" "graph diff FILE led.db 1" "graph diff led.db FILE 1" "timeline FILE" "steps FILE --by kernels" "graph costs FILE" "ranks FILE" "idle FILE" "memory FILE" "report --json FILE"
    "timeline FILE --launch 1:1" "diff FILE led.db" "diff led.db FILE" "merge out.db FILE" "merge out.db led.db FILE")
cp led.db newer.db
cp led.db damaged.db
python3 - <<'END'
import os, sqlite3
db = sqlite3.connect("newer.db")
db.execute("PRAGMA user_version = 2000")
db.close()
with open("damaged.db", "r+b") as file:
    file.seek(4096)
    file.write(b"\xff" * (os.path.getsize("damaged.db") - 4096))
END
for reader in "${readers[@]}"; do
    read -ra words <<<"$reader"
    for kind in none old folder newer damaged; do
        file=$kind.db
        [ $kind = folder ] && file=folder
        case $kind in
        none) says="No such file" ;;
        old) says="not an RTL trace" ;;
        folder) says="not a regular file" ;;
        newer) says="version 2.0" ;;
        damaged) says="malformed" ;;
        esac
        wrong 2 "$file" "$says" -- "$rtl" "${words[@]/#FILE/$file}"
    done
done
for command in "graph show" "graph launches"; do
    # shellcheck disable=SC2086
    wrong 2 "no trace" -- "$rtl" $command
    # shellcheck disable=SC2086
    wrong 2 "no graph was named" -- "$rtl" $command led.db
    # shellcheck disable=SC2086
    wrong 2 "led.db has no graphs" -- "$rtl" $command led.db 1
    for graph in 0 x 1. .1 1:2:3 1.2.3 99999999999 -- ""; do
        # shellcheck disable=SC2086
        wrong 2 "names no graph" -- "$rtl" $command -- led.db "$graph"
    done
    # shellcheck disable=SC2086
    wrong 2 "'2'" "second" -- "$rtl" $command led.db 1 2
    # shellcheck disable=SC2086
    wrong 2 "'many'" "--top" -- "$rtl" $command led.db 1 --top many
done
wrong 2 "list, show, launches, costs or diff" -- "$rtl" graph
wrong 2 "'shwo'" "list, show, launches, costs or diff" -- "$rtl" graph shwo
wrong 2 "no trace" -- "$rtl" graph list
wrong 2 "'-1'" "--top" -- "$rtl" graph list led.db --top -1
wrong 2 "'b.db'" -- "$rtl" graph list led.db b.db
equal "graphs of a trace without" "$("$rtl" graph list led.db)" "led.db has no graphs"
wrong 2 "'size'" "time, node, gap or cv" -- "$rtl" graph show led.db 1 --sort size
wrong 2 "no trace" -- "$rtl" graph diff
wrong 2 "no trace" -- "$rtl" graph diff 1 2
wrong 2 "two graphs" -- "$rtl" graph diff led.db
wrong 2 "two graphs" -- "$rtl" graph diff led.db 1
wrong 2 "led.db has no graphs" -- "$rtl" graph diff led.db led.db
wrong 2 "'3'" "third" -- "$rtl" graph diff led.db 1 2 3
wrong 2 "'x.db'" "third" -- "$rtl" graph diff led.db led.db x.db
wrong 2 "no trace" -- "$rtl" steps
wrong 2 "led.db has no kernels" -- "$rtl" steps led.db
wrong 2 "--by" "'x'" -- "$rtl" steps led.db --by x
wrong 2 "no trace" -- "$rtl" graph costs
wrong 2 "led.db has no graphs" -- "$rtl" graph costs led.db
# Filters say the same in each command that has them.
for command in summary timeline "export -F csv -o -" "view -n -o none.html"; do
    # shellcheck disable=SC2086
    {
        wrong 2 "--kernel" "'('" "Unmatched" -- "$rtl" $command led.db --kernel '('
        wrong 2 "--kernel is empty" -- "$rtl" $command led.db --kernel ''
        wrong 2 "--kernel was given twice" -- "$rtl" $command led.db --kernel a --kernel b
        wrong 2 "'one' is no number for --gpu" -- "$rtl" $command led.db --gpu one
        wrong 2 "'-1' is no number for --gpu" -- "$rtl" $command led.db --gpu=-1
        wrong 2 "led.db has no GPU 9: it has" -- "$rtl" $command led.db --gpu 9
        wrong 2 "led.db has no stream 9: no host call that it has names one" -- "$rtl" $command led.db --stream 9
        wrong 2 "led.db has no stream side: no host call that it has names one" -- "$rtl" $command led.db --stream side
        wrong 2 "led.db has no phase decode: it has no steps" -- "$rtl" $command led.db --phase decode
        wrong 2 "--from was given twice" -- "$rtl" $command led.db --from 1s --from 2s
    }
done
for command in summary steps idle timeline "graph list" "graph costs" "export -F csv -o -"; do
    # shellcheck disable=SC2086
    {
        wrong 2 "led.db has no process 9: it has none" -- "$rtl" $command led.db --process 9
        wrong 2 "led.db has no process nobody: it has none" -- "$rtl" $command led.db -p nobody
        wrong 2 "led.db has no process of rank 9" -- "$rtl" $command led.db --rank 9
    }
done
wrong 2 "--stream" -- "$rtl" idle led.db --stream 1
wrong 2 "--kernel" -- "$rtl" steps led.db --kernel a
wrong 2 "--gpu" -- "$rtl" graph list led.db --gpu 0
many=$(printf -- '--process=1 %.0s' {1..65})
# shellcheck disable=SC2086
wrong 2 "more than 64 filters" -- "$rtl" summary led.db $many

wrong 2 "no trace" -- "$rtl" memory
wrong 2 "led.db has no host call that allocates memory: it has no host calls at all" -- "$rtl" memory led.db
wrong 2 "no trace" -- "$rtl" idle
wrong 2 "no trace" -- "$rtl" ranks
wrong 2 "led.db has no kernels" -- "$rtl" ranks led.db
wrong 2 "1000 at most" -- "$rtl" ranks led.db --top 1001
wrong 2 "--list goes with --json" -- "$rtl" ranks led.db --list
wrong 2 "--by is given twice" -- "$rtl" ranks led.db --by launches --step kernels
wrong 2 "no trace" -- "$rtl" report
wrong 2 "'1.5' is no time for --from" -- "$rtl" idle led.db --from 1.5
wrong 2 "--json" "-o" -- "$rtl" report --json -o x.html led.db
wrong 2 "none.txt" -- "$rtl" report --families none.txt led.db
wrong 2 "led.db has no kernels" -- "$rtl" idle led.db
wrong 2 "1000 at most" -- "$rtl" idle led.db --top 1001
wrong 2 "--to" "--from" -- "$rtl" idle led.db --from 2s --to 1s
wrong 2 "no trace" -- "$rtl" timeline
wrong 2 "led.db has no kernels" -- "$rtl" timeline led.db
wrong 2 "led.db has no graphs" -- "$rtl" timeline led.db --launch 1:1
wrong 2 "'1'" "launch" -- "$rtl" timeline led.db --launch 1
wrong 2 "'1.1:1'" "launch" -- "$rtl" timeline led.db --launch 1.1:1
wrong 2 "'soon'" "--from" -- "$rtl" timeline led.db --from soon
wrong 2 "--to" "--from" -- "$rtl" timeline led.db --from 2s --to 1s
wrong 2 "--launch" "--from" -- "$rtl" timeline led.db --launch 1:1 --from 1s
wrong 2 "'wide'" "--width" -- "$rtl" timeline led.db --width wide
wrong 2 "'39'" "40 to 4096" -- "$rtl" timeline led.db --width 39
equal "a window in which nothing ran" "$("$rtl" timeline led.db --from 0s --to 1s | tail -n 1)" "nothing ran"
wrong 2 "no trace" -- "$rtl" diff
wrong 2 "second trace" -- "$rtl" diff led.db
wrong 2 "'c.db'" "third" -- "$rtl" diff led.db led.db c.db
wrong 2 "'--threshold'" "--fail-if 'kernels > 5%'" -- "$rtl" diff led.db led.db --threshold 5
wrong 2 "'--fail-if'" "--help" -- "$rtl" diff led.db led.db --fail-if
wrong 2 "'kernels > 5'" "lacks a %" -- "$rtl" diff led.db led.db --fail-if 'kernels > 5'
wrong 2 "'-f'" "stand before --" -- "$rtl" diff led.db -- led.db -f 'kernels > 5%'
wrong 2 "no trace" -- "$rtl" index
wrong 2 "'led.db'" "one" -- "$rtl" index led.db led.db
wrong 2 "nowhere.db" -- "$rtl" index nowhere.db
wrong 2 "old.db" "not an RTL trace" -- "$rtl" index old.db
wrong 2 "no file" -- "$rtl" merge
wrong 2 "no trace" -- "$rtl" merge -o out.db
wrong 2 "--output is given twice" -- "$rtl" merge -o out.db -o out.db led.db
wrong 2 "no trace" -- "$rtl" merge out.db
wrong 2 "no trace" -- "$rtl" merge --resume out.db
wrong 2 "'--resume'" -- "$rtl" merge --resume=1 out.db led.db
wrong 2 "'old.db'" "not a trace" -- "$rtl" merge old.db led.db
wrong 2 "old.db" "not replaced" -- "$rtl" merge -f old.db led.db
wrong 2 "led.db" "to be written" -- "$rtl" merge -f led.db led.db
wrong 2 "led.db" "./led.db" "one file" -- "$rtl" merge out.db led.db ./led.db
wrong 2 "nowhere/out.db" -- "$rtl" merge nowhere/out.db led.db
equal "the old file" "$(cat old.db)" precious
[ ! -e out.db ] || fail "a merge that was refused left a file"
[ -z "$(find . -name 'out.db*' -o -name 'old.db.*')" ] || fail "a merge that was refused left something behind"

# An option that there is not.
for command in trace ctl summary steps ranks idle memory "graph costs" "graph list" "graph show" "graph launches" "graph diff" ranges timeline report diff info check sql export view import fleet merge doctor bench demo collect; do
    for option in --frobnicate --frobnicate=x -Z; do
        # shellcheck disable=SC2086
        wrong 2 "unknown option '$option'" "rtl $command --help" -- "$rtl" $command $option
    done
    [ "$command" = collect ] && continue
    # shellcheck disable=SC2086
    "$rtl" $command --help >help.out || fail "$command --help ended with status $?"
    grep -q "^Usage: rtl $command" help.out || fail "$command --help does not help"
    grep -q "Examples:" help.out || fail "$command --help has no examples"
done
# What other tools can: said is how it is done here.
for attach in "trace -p 1" "trace --pid=1 -- true" "trace --attach 1" "attach 1"; do
    # shellcheck disable=SC2086
    wrong 2 "cannot be attached to" "RTL_START=off" "rtl ctl start -p PID" -- "$rtl" $attach
done
wrong 1 "RTL_START=off" -- "$rtl" ctl start -p $$
for id in 0 x 1:0 :1 0:1 1: 1:2:3 4294967295:1 -1; do
    wrong 2 "'$id'" "--range" "PROCESS:ID" -- "$rtl" ranges led.db "--range=$id"
done
wrong 2 "led.db" "no range 9:9" -- "$rtl" ranges led.db --range 9:9
wrong 2 "led.db" "--name" -- "$rtl" ranges led.db --name 'no such *'
wrong 2 "'now'" -- "$rtl" doctor now
wrong 2 "'now'" -- "$rtl" demo now
[ ! -e none.db ] || fail "reading made a file"

wrong 2 "unknown option '--frobnicate'" -- "$rtl" info led.db --frobnicate
wrong 2 "unknown option '-Z'" -- "$rtl" info --json -Zj led.db
wrong 2 "'-o' needs a value" -- "$rtl" export led.db -F csv -o
wrong 2 "'--output' needs a value" -- "$rtl" export led.db -F csv --output
wrong 2 "'--json' takes no value" -- "$rtl" info led.db --json=x
wrong 2 "'--d=x' may be several" -- "$rtl" trace --d=x -- touch started
"$rtl" info led.db --js >wrong.out || fail "an option cannot be shortened"
"$rtl" trace -q --gpu soft -f -o program.db -- test --frobnicate -Z >wrong.out 2>&1 && fail "the program did not run"
grep -q "unknown option" wrong.out && fail "the program's options are taken for those of rtl"

# Nothing where something is needed.
wrong 2 "empty" -- "$rtl" ''
wrong 2 "empty" -- "$rtl" help ''
for command in summary info check timeline ranges view "graph list" "export -F csv" "merge a.db" "diff led.db" import; do
    # shellcheck disable=SC2086
    wrong 2 "name is empty" -- "$rtl" $command ''
done
wrong 2 "name is empty" -- "$rtl" sql '' 'SELECT 1'
wrong 2 "no statement in ''" -- "$rtl" sql led.db ''
wrong 2 "no statement in ' ;'" -- "$rtl" sql led.db ' ;'
wrong 2 "no statement" -- "$rtl" sql led.db '/* nothing */' --json
wrong 2 "name is empty" -- "$rtl" export led.db -F csv -o ''
wrong 2 "name is empty" -- "$rtl" import led.db -o ''
wrong 2 "name is empty" -- "$rtl" merge '' led.db
wrong 2 "name is empty" -- "$rtl" view led.db -n -o ''
wrong 2 "name is empty" -- "$rtl" trace --gpu soft -o '' -- touch started
wrong 127 "there is no program 'csv': rtl trace makes a trace, and 'rtl export FILE -F csv' files of other formats of it" -- "$rtl" trace --gpu soft -o a.db -f csv -- ./app
wrong 2 "there is no command 'version': it is 'rtl --version' here" -- "$rtl" version
wrong 2 "there is no command 'kernels': it is 'rtl summary' here" -- "$rtl" kernels a.db
wrong 127 "there is no program ''" -- "$rtl" trace --gpu soft -o a.db -- ''
[ ! -e started ] || fail "a refused trace started the program"

# Rows and JSON.
equal "rows" "$("$rtl" sql led.db "SELECT 1, 'a', NULL, 2.5 UNION ALL SELECT 2, '', 'x', 0 ORDER BY 1")" $'1|a||2.5\n2||x|0'
equal "JSON rows" "$("$rtl" sql --json led.db "SELECT 1 AS n, 'a\"b' AS t, NULL AS z" | tr -d '[:space:]')" '[{"n":1,"t":"a\"b","z":null}]'
equal "infinite in JSON" "$("$rtl" sql --json led.db "SELECT 9e999 AS a, -9e999 AS b" | tr -d '[:space:]')" '[{"a":"Inf","b":"-Inf"}]'
equal "columns of one name in JSON" "$("$rtl" sql --json led.db "SELECT 1 AS a, 2 AS a, 3 AS b, 4 AS a" | tr -d '[:space:]')" '[{"a":1,"a:1":2,"b":3,"a:2":4}]'
equal "no JSON rows" "$("$rtl" sql --json led.db 'SELECT 1 WHERE 0')" '[]'
equal "the trace after a write" "$("$rtl" sql led.db 'DELETE FROM notes' 2>/dev/null; "$rtl" sql led.db 'SELECT count(*) FROM notes')" 1
! "$rtl" check led.db >check.out || fail "a trace of nothing is called complete"
