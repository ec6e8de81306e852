#!/usr/bin/env bash
# make.sh COMMIT: makes the golden trace of the format version that COMMIT writes, by its own writer, as SQL on the standard
# output. See README.md.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

git -C "$(git -C "$here" rev-parse --show-toplevel)" archive "$1" include src | tar -x -C "$scratch"
cd "$scratch"
mapfile -t sources < <(find src/store src/graph -name '*.c' ! -name sql_extension.c ! -name blank_make.c ! -name empty_db_make.c)
# What it stands on, in later versions.
mapfile -t -O "${#sources[@]}" sources < <(find src/common src/ring/clock_line.c -name '*.c' 2>/dev/null)
compile=(cc -std=c11 -D_GNU_SOURCE -DRTL_VERSION='"0"' -Iinclude -Isrc)
for name in blank empty_db; do # the tables are made by the build
    [ -e "src/store/${name}_make.c" ] || continue
    "${compile[@]}" "src/store/${name}_make.c" src/store/schema.c -o make_empty -lsqlite3
    ./make_empty empty.db
    compile+=("-DRTL_${name^^}=\"$scratch/empty.db\"")
done
"${compile[@]}" "$here/make.c" "${sources[@]}" -o make -lsqlite3 -lzstd -lpthread -lm -lstdc++
./make trace.db

# What depends on when and where it was made is replaced. Tables and rows in order, so that a change shows as one.
sqlite3 trace.db "UPDATE meta SET value = CASE key WHEN 'creator' THEN 'rtl golden' WHEN 'host' THEN 'golden-host'
    WHEN 'start' THEN 500000 WHEN 'end' THEN 10000000 WHEN 'realtime_offset' THEN 1700000000000000 WHEN 'writer_pid' THEN 4100
    WHEN 'writer_start' THEN 12345 WHEN 'boot' THEN '00000000-0000-4000-8000-000000000000' ELSE value END"
[ -z "$(sqlite3 trace.db "SELECT 1 FROM sqlite_master WHERE name = 'clock_exchanges'")" ] ||
    sqlite3 trace.db "UPDATE clock_exchanges SET host = 'golden-host', boot = '00000000-0000-4000-8000-000000000000'"
[ -z "$(sqlite3 trace.db "SELECT 1 FROM sqlite_master WHERE name = 'digests'")" ] || python3 "$here/read_trace.py" --seal trace.db
echo "PRAGMA application_id=$(sqlite3 trace.db 'PRAGMA application_id');"
echo "PRAGMA user_version=$(sqlite3 trace.db 'PRAGMA user_version');"
sqlite3 trace.db .dump
