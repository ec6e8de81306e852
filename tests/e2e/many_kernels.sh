#!/usr/bin/env bash
# many_kernels.sh BUILD: a program that loads six thousand kernels and uses three has a small trace, in which all have their names;
# those that ran have them for any SQLite program; and what is merged, or recorded until a kill, has them too.
source "$(dirname "$0")/lib.sh"
export E2E_KERNELS=$bin/e2e_many_kernels.co SOFTGPU_DURATION=1000

# What the program knows, and the kernels of kernels.cl.
{
    python3 "$here/many_kernels.py"
    for kernel in storm_first storm_second storm_third storm_endless random_quick random_middle random_slow; do
        echo "$kernel|$kernel"
    done
} | sort >wanted

# all_named TRACE [PROCESS]: the trace has each of them, once.
all_named() {
    ask "$1" "SELECT name, mangled FROM symbols WHERE process = ${2:-1}" | sort >named
    cmp -s named wanted || fail "$1: the names are not those of the program: $(diff named wanted | head -n 3)"
}

"$rtl" trace -q --gpu soft -o t.db -- "$bin/hsa_storm" --dispatches 300 --batch 10 >storm.out 2>storm.err ||
    fail "hsa_storm ended with status $?"
all_named t.db
[ "$(stat -c %s t.db)" -lt 1048576 ] || fail "the trace has $(stat -c %s t.db) bytes"
"$rtl" check t.db >check.out || fail "the trace is not complete"
"$rtl" summary --json t.db >summary.json || fail "no summary"
python3 - summary.json <<'END' || fail "rtl summary has other names"
import json
import sys
names = {row["name"]: row["calls"] for row in json.load(open(sys.argv[1], encoding="utf-8"))["kernels"]}
sys.exit(names != {"storm_first": 100, "storm_second": 100, "storm_third": 100})
END

# Without RTL: rows of those that ran.
equal "rows of symbols" "$(sqlite3 t.db "SELECT group_concat(name) FROM (SELECT name FROM symbols ORDER BY name)")" \
    storm_first,storm_second,storm_third

# Two in one, and one that an older rtl wrote with all of them as rows.
cp t.db older.db
ask t.db "SELECT * FROM symbols" >rows
sqlite3 older.db "DELETE FROM symbols" ".import rows symbols" \
    "DROP TABLE symbol_blocks; DROP TABLE digests; DELETE FROM meta WHERE key = 'digests'; PRAGMA user_version = 1005"
another_process older.db
all_named older.db
cp t.db again.db
another_process again.db
"$rtl" merge merged.db t.db older.db again.db >merge.out 2>merge.err || fail "they cannot be merged"
for process in 1 2 3; do
    all_named merged.db $process
done
"$rtl" check merged.db >check.out || fail "what was merged is not complete"

# Its recorder killed as soon as there are kernels, and later: they have their names, and no symbol is there twice.
for least in 1 2000 10000; do
    rm -f killed.db*
    "$rtl" trace -q --gpu soft -o killed.db -- sh -c 'echo $$ >pid; exec "$0" --dispatches 100000000 --batch 10' "$bin/hsa_storm" \
        >storm.out 2>storm.err &
    recorder=$!
    until [ "$(ask killed.db "SELECT count(*) >= $least FROM kernels" 2>/dev/null)" = 1 ]; do
        sleep 0.02
    done
    kill -KILL $recorder || fail "the recorder was over before it was killed"
    wait $recorder || true
    kill -KILL "$(cat pid)"
    equal "kernels without a name after $least" "$(ask killed.db "SELECT count(*) FROM kernels WHERE name NOT LIKE 'storm%'")" 0
    all_named killed.db
done
