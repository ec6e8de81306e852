#!/usr/bin/env bash
# short_names.sh BUILD: kernels of one name that differ in a template argument alone are told apart on a terminal
# in every table that has them, and shown whole with --wide, in a pipe and in JSON.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$build/lib/softgpu/decode_plugin.so

for tokens in 20 30; do
    "$rtl" trace -q -m full --gpu soft -o $tokens.db -- "$build/bin/rtl-demo-decode" --tokens $tokens --layers 4 \
        >$tokens.out 2>$tokens.err || fail "the demo with $tokens tokens ended with status $?"
    python3 - $tokens.db <<'END'
import sqlite3
import sys
db = sqlite3.connect(sys.argv[1])
names = [row[0] for row in db.execute("SELECT DISTINCT name FROM symbols ORDER BY name")]
for number, name in enumerate(names):
    for table in "symbols", "graph_names":
        db.execute(f"UPDATE {table} SET name = ? WHERE name = ?", (
            f"void one::two::kernel_of_them<__half, float, {1000 + number}, false>(__half const*, float const*, float*, int, int)", name))
db.commit()
END
done
python3 "$here/short_names.py" "$rtl" 20.db 30.db || fail "a table does not show what tells its kernels apart"
