#!/usr/bin/env bash
# commands.sh BUILD NAME: every command that reads a trace ends over the golden trace NAME, whose times lie at the ends of the
# clock, and over one that has lost its graphs, within a minute of the processor's time, with a status of its own and less than a gigabyte
# of memory.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rtl=$1/bin/rtl
viewer=$1/lib/rtl-viewer.html
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
sqlite3 t.db <"$here/$2"

# try STATUS… -- WORD…: the command ends with one of these.
try() {
    local wanted=" " status=0
    while [ "$1" != -- ]; do
        wanted+="$1 "
        shift
    done
    shift
    (
        ulimit -t 60
        # A sanitizer reserves memory of its own.
        grep -q __asan_init "$rtl" || ulimit -v 1048576
        exec "$rtl" "$@"
    ) >out 2>err || status=$?
    [[ $wanted == *" $status "* ]] || {
        echo "commands.sh: rtl $* ended with $status" >&2
        tail -n 3 err >&2
        exit 1
    }
}

end=18446744073709551615
for command in summary info check ranges; do
    try 0 1 -- $command t.db
    try 0 1 -- $command --json t.db
done
try 0 1 -- check --deep t.db
try 0 2 -- ranges --each t.db
try 0 2 -- ranges --name '*' t.db
try 0 2 -- steps --by launches t.db
try 0 2 -- idle t.db
try 0 2 -- ranks t.db
try 0 2 -- ranks --json --list --by collectives t.db
try 0 2 -- memory t.db
try 0 2 -- memory --json t.db
try 0 2 -- graph costs t.db
try 0 2 -- graph costs --json t.db
try 0 2 -- idle --json --top 100 t.db
try 0 -- report --json t.db
try 0 2 -- steps --by kernels --list t.db
try 0 2 -- steps --list --json t.db
try 0 -- timeline t.db
try 0 -- timeline --json --width 4096 t.db
try 0 -- timeline --from 0 --to $end t.db
try 0 2 -- timeline --launch 1:1 t.db
sqlite3 u.db <"$here/$2"
sqlite3 u.db "UPDATE meta SET value = 'another' WHERE key IN ('boot', 'host'); UPDATE processes SET pid = pid + 1, host = 'another'"
[ -z "$(sqlite3 u.db "SELECT 1 FROM sqlite_master WHERE name = 'clock_exchanges'")" ] || sqlite3 u.db "UPDATE clock_exchanges SET boot = 'another'"
sqlite3 u.db "DROP TABLE IF EXISTS digests; DELETE FROM meta WHERE key = 'digests'"
try 0 2 -- merge -f --json m.db t.db u.db
try 0 1 -- diff t.db t.db
try 0 2 -- diff -f 'kernels > 1%' -f 'count > 1%' t.db t.db
try 0 -- graph list t.db
try 0 2 -- graph show t.db 1
try 0 2 -- graph show --layers t.db 1
try 0 2 -- graph launches t.db 1
try 0 -- sql t.db "SELECT count(*), sum(duration & 7) FROM kernels"
try 0 -- sql t.db .tables
try 0 -- sql t.db .schema
for format in chrome perfetto csv rpd rocpd rocprofv3 html; do
    [ $format != html ] || [ -e "$viewer" ] || continue
    try 0 -- export -f --format $format -o whole t.db
    try 0 -- export -f --format $format --from 0 --to $end -o part t.db
done
[ ! -e "$viewer" ] || try 0 -- view --no-open -o page.html t.db
[ ! -e "$viewer" ] || try 0 -- report -o report.html t.db

# Damaged: launches and kernels of graphs that are not there.
for table in graph_rows graphs; do
    sqlite3 t.db "DELETE FROM $table" 2>/dev/null || true
done
for command in summary info check ranges steps ranks idle memory "graph list" "graph costs" timeline "diff t.db"; do
    # shellcheck disable=SC2086 # words
    try 0 1 2 -- $command t.db
done
try 0 2 -- steps --by launches --json t.db
for part in show launches; do
    try 2 -- graph $part t.db 1
done
for format in chrome perfetto csv rpd rocpd rocprofv3; do
    try 0 1 2 -- export -f --format $format -o whole t.db
done
