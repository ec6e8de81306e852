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
"$rtl" export 20.db -F rocprofv3 -o 20.json >export.out 2>export.err || fail "rtl export ended with status $?"
python3 - 20.json <<'END' || fail "short names of the export do not tell its kernels apart"
import json
import sys
symbols = json.load(open(sys.argv[1], encoding="utf-8"))["rocprofiler-sdk-tool"][0]["kernel_symbols"][1:]
short = {symbol["formatted_kernel_name"]: symbol["truncated_kernel_name"] for symbol in symbols}
assert len(short) > 10 and len(set(short.values())) == len(short), short
for whole, name in short.items():
    number = whole.split(", ")[2] if "kernel_of_them" in whole else ""
    assert len(name) <= 60 and number in name and not name.startswith("void "), (whole, name)
END
python3 "$here/short_names.py" "$rtl" 20.db 30.db || fail "a table does not show what tells its kernels apart"
