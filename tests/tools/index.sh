#!/usr/bin/env bash
# index.sh BUILD: what commands say of a trace with statistics is what they say without, to the last digit, in traces of every
# version; and nothing else in the file changes.
golden=$(cd "$(dirname "$0")/../golden" && pwd)
source "$(dirname "$0")/../e2e/lib.sh"

# What is to be the same: sums by all that kernels are told apart by.
say() {
    "$rtl" summary --json --top 1000 "$1" || true
    "$rtl" graph list --json "$1" || true
    for list in all none name process gpu queue graph graph,generation graph,node process,queue,name; do
        "$rtl" sql "$1" "SELECT * FROM kernel_stats('$list')"
    done
    "$rtl" sql "$1" "SELECT * FROM kernel_stats('name') WHERE process = 1"
    "$rtl" sql "$1" "SELECT * FROM kernel_stats('name', 0, 1 << 62)"
    for width in 40 97 1000; do
        "$rtl" timeline --json --width $width "$1" || true
    done
    "$rtl" timeline --from 1ms --to 700ms "$1" || true
}

# All rows but those of statistics, and what is made of all rows.
rows() {
    sqlite3 "$1" .dump | grep -v -e '^INSERT INTO \(stat_[a-z]*\|digests\|meta\) ' -e '^CREATE TABLE \(IF NOT EXISTS \)\?\(stat_[a-z]*\|digests\)' ||
        fail "$1 cannot be read"
}

# compare NAME: a copy of t.db with statistics.
compare() {
    say t.db >without.out 2>&1
    rows t.db >rows.before
    "$rtl" check t.db >check.before || true
    "$rtl" index t.db >index.out || fail "$1: no statistics"
    grep -q '^t.db: statistics of ' index.out || fail "$1: $(cat index.out)"
    say t.db >with.out 2>&1
    diff without.out with.out >differences || fail "$1: it says something else: $(head -n 4 differences)"
    rows t.db | diff rows.before - >differences || fail "$1: other rows: $(head -n 4 differences)"
    "$rtl" check t.db >check.after || true
    diff check.before check.after >differences || fail "$1: another verdict: $(head -n 4 differences)"
    "$rtl" check --deep --json t.db >deep.json || true
    grep -q '"damage": \[\]' deep.json || fail "$1: they are not what the kernels add up to"
    # They are used: what is wrong in them shows.
    sqlite3 t.db "UPDATE stat_spans SET busy = busy + 1"
    "$rtl" check --deep --json t.db >deep.json && fail "$1: statistics that are wrong are complete"
    grep -q "the statistics are not what the kernels add up to" deep.json || fail "$1: wrong statistics are not told"
    say t.db >with.out 2>&1
    ! cmp -s without.out with.out || fail "$1: they are not used"
    # And not, where the trace is another one.
    sqlite3 t.db "UPDATE digests SET digest = digest - 1 WHERE name = 'shapes'"
    say t.db >with.out 2>&1
    cmp -s without.out with.out || fail "$1: statistics of another trace are used"
}

for sql in "$golden"/trace-1.*.sql; do
    rm -f t.db
    # Those that have them come without.
    sqlite3 t.db <"$sql"
    sqlite3 t.db "DELETE FROM meta WHERE key = 'stats'"
    [ -z "$(sqlite3 t.db "SELECT 1 FROM sqlite_master WHERE name = 'digests'")" ] || python3 "$golden/read_trace.py" --seal t.db
    compare "$(basename "$sql")"
done

# A recorder makes them of many kernels.
"$rtl" trace -q -f --gpu soft -o t.db -- "$bin/hsa_storm" --dispatches 300000 --queues 3 >storm.out 2>storm.err
equal "their kernels" "$(sqlite3 t.db "SELECT sum(kernels) FROM stat_blocks")" 300000
say t.db >recorded.out 2>&1
sqlite3 t.db "DELETE FROM meta WHERE key IN ('stats', 'stats_graphs')"
say t.db | diff recorded.out - >differences || fail "the recorder's statistics are others: $(head -n 4 differences)"
python3 "$golden/read_trace.py" --seal t.db
compare "a recorded trace"

# As JSON.
rm -f t.db
sqlite3 t.db <"$golden/trace-1.6.sql"
"$rtl" index --json t.db >index.json || fail "no statistics"
number() { sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" index.json; }
equal "kernels" "$(number kernels)" "$(sqlite3 t.db "SELECT sum(kernels) FROM kernel_chunks")"
equal "groups" "$(number groups)" "$(sqlite3 t.db "SELECT sum(groups) FROM stat_blocks")"
equal "bytes" "$(number bytes)" "$(sqlite3 t.db "SELECT sum(length(data)) FROM (SELECT data FROM stat_blocks UNION ALL SELECT data FROM stat_chunks)")"

# Many chunks: those that lie within a column are not unpacked, where the trace tells what they add up to.
for kind in eager replay; do
    rm -f t.db
    "$bin/bench_store" --write $kind --queues 2 --shapes 20 --kernels 1500000 --file t.db >bench.out || fail "no trace"
    "$rtl" timeline --json --width 40 t.db >before.json || fail "no timeline"
    "$rtl" index t.db >index.out || fail "no statistics"
    "$rtl" timeline --json --width 40 t.db | cmp - before.json || fail "$kind: the timeline is another with statistics"
    "$rtl" timeline --json --width 61 --from 300ms --to 900ms t.db >with.json || fail "no window"
    "$rtl" check --deep --json t.db >deep.json || true
    grep -q '"damage": \[\]' deep.json || fail "$kind: statistics of chunks are not what the kernels add up to"
    sqlite3 t.db "CREATE TABLE kept AS SELECT * FROM stat_chunks; DELETE FROM stat_chunks"
    "$rtl" timeline --json --width 61 --from 300ms --to 900ms t.db | cmp - with.json || fail "$kind: a window is another with statistics"
    sqlite3 t.db "INSERT INTO stat_chunks SELECT * FROM kept; UPDATE stat_chunks SET busy = busy + 1"
    ! "$rtl" timeline --json --width 40 t.db >after.json 2>refused || fail "$kind: damaged statistics of chunks are used"
    grep -q "damaged: statistics of kernel chunk" refused || fail "it says: $(cat refused)"
    "$rtl" check --deep --json t.db >deep.json && fail "$kind: damaged statistics of chunks are complete"
done

# Nothing is changed in what is refused.
sqlite3 t.db "UPDATE meta SET value = 0 WHERE key = 'finished'"
cp t.db before.db
! "$rtl" index t.db 2>refused || fail "a trace that was not closed in order is taken"
grep -q "not closed in order; 'rtl merge" refused || fail "it says: $(cat refused)"
# What it says is so.
cp t.db killed.db
sqlite3 killed.db "DROP TABLE digests; DELETE FROM meta WHERE key = 'digests'"
"$rtl" merge of-killed.db killed.db >merged.out || fail "it cannot be merged"
"$rtl" index of-killed.db >index.out || fail "its merge is refused"
equal "kernels of its statistics" "$("$rtl" sql of-killed.db "SELECT sum(kernels) FROM kernel_stats('name')")" \
    "$("$rtl" sql of-killed.db "SELECT count(*) FROM kernels")"
cmp -s t.db before.db || fail "what was refused has changed"
sqlite3 t.db "UPDATE meta SET value = 1 WHERE key = 'finished'; UPDATE agents SET node = 77"
cp t.db before.db
! "$rtl" index t.db 2>refused || fail "a damaged trace is taken"
grep -q "the trace t.db is damaged: the table " refused || fail "it says: $(cat refused)"
cmp -s t.db before.db || fail "what was refused has changed"
