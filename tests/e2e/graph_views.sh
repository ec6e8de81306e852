#!/usr/bin/env bash
# graph_views.sh BUILD PLUGIN: what rtl graph, timeline, diff and merge say of replays that are known, against SQL on the
# exported RPD file; how they look on terminals of 80 and 200 columns, and in a pipe.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_COPY=500000

for percent in 0 15; do
    "$rtl" trace -q -m full --gpu soft -o "$percent.db" -- "$bin/graph_views" "$percent" >"$percent.out" 2>"$percent.err" ||
        fail "the program ended with status $?"
    "$rtl" check "$percent.db" >check.out || fail "the trace is not complete"
    "$rtl" export "$percent.db" --format rpd -o "$percent.rpd" || fail "rtl export ended with status $?"
done
python3 "$here/graph_views.py" "$rtl" 0 15 "$([ "$rocr" -ge 15 ] && echo kernel || echo engine)" || fail "a view says what SQL does not"
python3 "$here/merged.py" "$rtl" 0.db 15.db "$here"/../golden/trace-*.sql || fail "a merged trace is not what was merged"

# refused PATTERN COMMAND...: status 2, one sentence that says so.
refused() {
    local status=0
    "$rtl" "${@:2}" >refused.out 2>refused.err || status=$?
    equal "status of ${*:2}" $status 2
    equal "what ${*:2} says" "$(cat refused.err)" "rtl: $1"
}
"$rtl" merge 0.db 15.db -o both.db >merge.out || fail "rtl merge ended with status $?"
for command in show launches; do
    refused "0.db has no graph 7: it has 1, 2, 3" graph $command 0.db 7
    refused "0.db has no graph 2:1: it has 1, 2, 3" graph $command 0.db 2:1
    refused "0.db: graph 1 has no generation 9: it has only 1" graph $command 0.db 1.9
    refused "both.db has a graph 1 in several processes: write 1:1 or 2:1" graph $command both.db 1
    refused "both.db has no graph 3:1: it has 1:1, 1:2, 1:3, 2:1 and 2 more" graph $command both.db 3:1
done
cp 0.db again.db
another_process again.db
"$rtl" merge three.db 0.db 15.db again.db >merge.out || fail "rtl merge of three ended with status $?"
refused "three.db has a graph 1 in several processes: write 1:1, 2:1 or another one that rtl graph list shows" graph show three.db 1
refused "0.db has no graph 4: it has 1, 2, 3" graph diff 0.db 1 4
refused "0.db has several graphs: name one (rtl graph list 0.db shows them)" graph diff 0.db 15.db
refused "0.db has no graph 7: it has 1, 2, 3" timeline 0.db --launch 7:1
refused "0.db: graph 1 has no launch 99: it has 1 to 48" timeline 0.db --launch 1:99
refused "both.db has a graph 1 in several processes: write 1:1 or 2:1" timeline both.db --launch 1:1

# A chunk of kernels whose bytes have changed: nobody guesses, and nothing is shown.
cp 0.db torn.db
python3 -c 'import sqlite3; db = sqlite3.connect("torn.db"); db.execute("UPDATE kernel_chunks SET data = zeroblob(length(data))"); db.commit()'
for command in "graph list torn.db" "graph show torn.db 1" "graph show --layers torn.db 1" "graph launches torn.db 1" \
    "graph diff torn.db 1 2" "graph diff 0.db torn.db 1" \
    "timeline torn.db" "timeline torn.db --launch 1:3" "diff torn.db 0.db" "diff 0.db torn.db" "merge torn-merged.db 15.db torn.db"; do
    for json in "" --json; do
        status=0
        # shellcheck disable=SC2086
        "$rtl" $command $json >torn.out 2>torn.err || status=$?
        equal "status of $command $json" $status 2
        [ ! -s torn.out ] || fail "$command $json shows what it cannot know"
        equal "sentences of $command $json" "$(grep -c '^rtl: .*torn.db.*damaged' torn.err)" 1
    done
done

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
