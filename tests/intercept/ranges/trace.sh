#!/usr/bin/env bash
# trace.sh BUILD PLUGIN PROGRAM [ARGUMENT...]: a program is recorded, and `rtl ranges` says what follows from the rows of SQL.
source "$(dirname "$0")/../../e2e/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth HIP_GRAPHS_EXPECTED=$scratch/expected
shift
program=$bin/$1
shift
LD_LIBRARY_PATH=$build/lib/roctx "$rtl" trace -q -m full --gpu soft -o t.db -- "$program" "$@" >traced.out 2>traced.err ||
    fail "the program ended with status $?"
"$rtl" check --truth truth t.db >check.out 2>&1 || fail "rtl check ended with status $?"
python3 "$here/../intercept/ranges/trace.py" "$rtl" t.db >same.out 2>same.err || fail "rtl ranges does not say what SQL has"

# lines WORD...: how many lines the table of `rtl ranges` has.
lines() {
    "$rtl" ranges t.db --top 0 --wide "$@" >table.out 2>table.err || fail "rtl ranges $* ended with status $?"
    awk 'found && /^  / && !/^  [*~] / { n++ } / range$/ { found = 1 } END { print n + 0 }' table.out
}

# A line for each name, or for each range; patterns of names.
real="kind <> 'mark'"
nested="WITH RECURSIVE p AS (SELECT process, id, json_array(name) AS path FROM ranges WHERE $real AND parent IS NULL
        UNION ALL SELECT r.process, r.id, json_insert(p.path, '\$[#]', r.name) FROM ranges r JOIN p ON p.process = r.process AND p.id = r.parent
        WHERE r.$real)"
equal "lines by name" "$(lines)" "$(ask t.db "$nested SELECT count(DISTINCT path) FROM p")"
equal "lines one by one" "$(lines --each)" "$(ask t.db "SELECT count(*) FROM ranges WHERE $real")"
some=$(ask t.db "SELECT name FROM ranges WHERE $real GROUP BY name ORDER BY count(*) DESC, name LIMIT 1")
equal "ranges of a whole name" "$(lines --each --name "$some")" "$(ask t.db "SELECT count(*) FROM ranges WHERE $real AND name = '${some//\'/\'\'}'")"
equal "ranges of a pattern" "$(lines --each --name '[!a-m]*e*')" "$(ask t.db "SELECT count(*) FROM ranges WHERE $real AND name GLOB '[^a-m]*e*'")"
one=$(ask t.db "SELECT id FROM ranges WHERE $real ORDER BY id DESC LIMIT 1")
equal "a range by its process and id" "$("$rtl" ranges t.db --json --range "1:$one" | jq -c '[.ranges[] | [.process, .id]]')" "[[1,$one]]"

# Two processes, whose ranges have the same ids.
names=$(lines)
cp t.db u.db
another_process u.db
"$rtl" merge both.db t.db u.db >merge.out 2>merge.err || fail "rtl merge ended with status $?"
"$rtl" ranges both.db --top 0 --wide >both.out || fail "rtl ranges of two processes ended with status $?"
equal "lines of each process" "$(awk '/ range$/ { head = $1; next } head == "process" { n[$1]++ } END { print n[1], n[2] }' both.out)" "$names $names"
equal "a range of the second" "$("$rtl" ranges both.db --json --range "2:$one" | jq -c '[.ranges[] | [.process, .id]]')" "[[2,$one]]"
equal "one of each" "$("$rtl" ranges both.db --json --range "$one" | jq -c '[.ranges[] | [.process, .id]]')" "[[1,$one],[2,$one]]"

# What is no metric is refused by name, with what is near it.
"$rtl" ranges t.db --metrics kernels,lane_uze >refused.out 2>refused.err && fail "a metric that is none was taken"
equal "the sentence" "$(cat refused.err)" "rtl: there is no metric 'lane_uze', did you mean 'lane_use'?"
"$rtl" ranges t.db --range 999999999 >refused.out 2>refused.err && fail "a range that is not there was shown"
grep -q 't.db has no range 999999999' refused.err || fail "the sentence does not name file and range"
"$rtl" ranges t.db --range "2:$one" >refused.out 2>refused.err && fail "a range of another process was shown"
grep -q "t.db has no range 2:$one" refused.err || fail "the sentence does not name process and range"
