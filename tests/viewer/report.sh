#!/usr/bin/env bash
# report.sh BUILD NODE CHROMIUM: what `rtl report` holds is compared with what other commands and SQL say of the same
# trace, and the page, opened in Chromium, with what it holds (report.mjs). Then the same with hostile names.
source "$(dirname "$0")/../tools/lib.sh"
node=$2 chromium=$3 seed=${RTL_TEST_SEED:-$$}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
unset "${!SOFTGPU_@}"

# What the report must hold, each by another way.
expect() {
    "$rtl" steps --list --top 0 --json "$1" >"$2/steps.json" || fail "rtl steps ended with status $?"
    "$rtl" idle --top 10 --json "$1" >"$2/idle.json" || fail "rtl idle ended with status $?"
    "$rtl" info --json "$1" >"$2/info.json" || fail "rtl info ended with status $?"
    "$rtl" check --json "$1" >"$2/check.json" || [ $? = 1 ] || fail "rtl check could not read $1"
    "$rtl" graph show "$1" 1 --layers --json >"$2/graph.json" || fail "rtl graph show ended with status $?"
    "$rtl" summary --by family --json "$1" >"$2/families.json" || fail "rtl summary ended with status $?"
    "$rtl" sql --json "$1" "SELECT name, count(*) calls, sum(duration) total, min(duration) min, max(duration) max
        FROM kernels GROUP BY name ORDER BY total DESC" >"$2/kernels.json" || fail "rtl sql ended with status $?"
}

"$rtl" demo --tokens 40 --keep t.db >traced.out 2>traced.err || fail "rtl demo ended with status $?"
mkdir plain hostile
expect t.db plain
"$rtl" report --json t.db >plain/report.json || fail "rtl report --json ended with status $?"
"$rtl" report t.db -o plain/report.html >report.out || fail "rtl report ended with status $?"
[ "$(cat report.out)" = plain/report.html ] || fail "rtl report does not name what it has written"
"$node" "$here/report.mjs" "$build/viewer" "$chromium" plain >page.out 2>page.err || fail "the report is not as it should be"

# Its own report is replaced, another file is not; by default it is named after the trace.
"$rtl" report t.db -o plain/report.html >report.out || fail "a report is not replaced"
echo mine >mine.html
"$rtl" report t.db -o mine.html >report.out 2>report.err && fail "another's file was replaced"
[ "$(cat mine.html)" = mine ] || fail "another's file was changed"
"$rtl" report -f t.db -o mine.html >report.out || fail "--force does not replace it"
"$rtl" report t.db >report.out && cmp -s t-report.html mine.html || fail "the default name is not t-report.html"
"$rtl" report t.db -o - >dash.html && cmp -s dash.html mine.html || fail "-o - is not the page"

# Names that would be markup, or end a script, where a careless page would let them.
cp t.db hostile.db
sqlite3 hostile.db >sqlite.out <<'SQL' || fail "sqlite3 ended with status $?"
UPDATE symbols SET name = '</script><img src=x onerror="window.hostile=1"><b>' || name || char(8232) || '"''&amp;\u003c' || char(8238);
UPDATE calls SET name = '<svg onload=window.hostile=1>' || name;
UPDATE meta SET value = '</title><script>window.hostile=1</script>' WHERE key = 'command';
UPDATE processes SET command = '</script><script>window.hostile=1</script> x';
UPDATE notes SET text = '<img src=x onerror="window.hostile=1">' || text;
SQL
expect hostile.db hostile
"$rtl" report --json hostile.db >hostile/report.json || fail "rtl report --json ended with status $?"
"$rtl" report hostile.db -o hostile/report.html >report.out || fail "rtl report of hostile names ended with status $?"
"$node" "$here/report.mjs" "$build/viewer" "$chromium" hostile >page.out 2>page.err || fail "the report of hostile names is not as it should be"

# Ranks of a job, in a trace of several.
mkdir ranks
for job in "6 3" "2 1"; do
    read -r ranks hosts <<<"$job"
    "$build/tests/bin/ranks_exposed" ranks.db $((seed += 1)) "$ranks" "$hosts" >ranks/truth || fail "there is no trace of ranks"
    "$rtl" ranks --json ranks.db >ranks/ranks.json || fail "rtl ranks ended with status $?"
    "$rtl" report --json ranks.db >ranks/report.json || fail "rtl report --json ended with status $?"
    "$rtl" report -f ranks.db -o ranks/report.html >report.out || fail "rtl report of ranks ended with status $?"
    "$node" "$here/report_ranks.mjs" "$build/viewer" "$chromium" ranks "$ranks" "$hosts" >page.out 2>page.err ||
        fail "the ranks of the report are not as they should be (RTL_TEST_SEED=$seed)"
done
[ "$("$rtl" report --json t.db | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["ranks"])')" = None ] || fail "one process has ranks"
