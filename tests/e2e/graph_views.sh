#!/usr/bin/env bash
# graph_views.sh BUILD PLUGIN: what rtl graph, timeline, diff and merge say of replays that are known, against SQL on the
# exported RPD file; how they look on terminals of 80 and 200 columns, and in a pipe.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_COPY=60000

for percent in 0 15; do
    "$rtl" trace -q -m full --gpu soft -o "$percent.db" -- "$bin/graph_views" "$percent" >"$percent.out" 2>"$percent.err" ||
        fail "the program ended with status $?"
    "$rtl" check "$percent.db" >check.out || fail "the trace is not complete"
    "$rtl" export "$percent.db" --format rpd -o "$percent.rpd" || fail "rtl export ended with status $?"
done
python3 "$here/graph_views.py" "$rtl" 0 15 || fail "a view says what SQL does not"
python3 "$here/merged.py" "$rtl" 0.db 15.db || fail "a merged trace is not what was merged"

# Names that want to be more than text.
cp 0.db evil.db
python3 - <<'END'
import sqlite3
db = sqlite3.connect("evil.db")
evil = "evil\x1b[31mred\x1b]0;title\x07\u202e\u009b2J<script>" + "\u7bc4" * 40 + "_end"
db.execute("UPDATE symbols SET name = ?", (evil,))
db.execute("UPDATE graph_names SET name = ?", (evil,))
db.commit()
END
python3 "$here/terminals.py" "$rtl" 0.db 15.db evil.db || fail "a view does not look as it should"
