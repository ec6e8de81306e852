#!/usr/bin/env bash
# page.sh BUILD NODE CHROMIUM PLUGIN decode | PROGRAM SCENARIO: a program is recorded, its page opened in Chromium, and
# what the page holds and shows compared with SQL and `rtl summary` (page.mjs). Then the same names are made hostile.
source "$(dirname "$0")/../tools/lib.sh"
node=$2 chromium=$3 plugin=$4
shift 4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
unset "${!SOFTGPU_@}"

if [ "$1" = decode ]; then
    "$rtl" demo --tokens 24 --keep t.db >traced.out 2>traced.err || fail "rtl demo ended with status $?"
else
    [ "$1" != steps ] || export SOFTGPU_DEVICES=2
    SOFTGPU_PLUGINS=$plugin SOFTGPU_TRUTH=$scratch/truth HIP_GRAPHS_EXPECTED=$scratch/expected "$rtl" trace -q -m full \
        --gpu soft -o t.db -- "$build/tests/bin/$1" "${@:2}" >traced.out 2>traced.err ||
        fail "the program ended with status $?"
fi

# What the page must hold: an independent way to the same file.
expect() {
    "$rtl" summary --json "$1" >"$2/summary.json"
    "$rtl" summary --by family --families rules --json "$1" >"$2/families.json"
    "$rtl" idle --json "$1" >"$2/idle.json"
    "$rtl" sql --json "$1" "SELECT id, process, gpu, queue, stream, name, start, duration, grid_x, block_x, correlation, graph,
        generation, launch, node, range, capture_range FROM kernels" >"$2/kernels.json"
    "$rtl" sql --json "$1" "SELECT id, process, thread, name, start, duration, correlation, result FROM api" >"$2/calls.json"
    "$rtl" sql --json "$1" "SELECT id, process, thread, name, start, kind FROM ranges" >"$2/ranges.json"
    "$rtl" sql --json "$1" "SELECT id, process, start, duration, bytes, kind FROM copies WHERE start IS NOT NULL" >"$2/copies.json"
    "$rtl" sql --json "$1" "SELECT process, graph, generation, launch, start, end, kernels FROM graph_launches
        WHERE start IS NOT NULL" >"$2/launches.json"
}

mkdir plain hostile
echo "^decode::norm|^hip_|graph = a family of mine" >rules
expect t.db plain
"$rtl" export t.db --to html --families rules -o plain/page.html >export.out 2>export.err || fail "rtl export ended with status $?"
"$rtl" export t.db --to html --detail 1K -o small.html >export.out 2>small.err || fail "rtl export --detail ended with status $?"
grep -q 'stretches of time are left out' small.err || fail "rtl export does not say that it leaves something out"
"$node" "$here/page.mjs" "$build/viewer" "$chromium" plain small.html >page.out 2>page.err || fail "the page is not as it should be"

# What names do is no matter of the program that has them.
[ -z "${RTL_TEST_BRIEF:-}" ] || [ "$1" = decode ] || exit 0

# Names that would be markup, end a script, or turn text around, where a careless page would let them.
cp t.db hostile.db
sqlite3 hostile.db >sqlite.out <<'SQL' || fail "sqlite3 ended with status $?"
UPDATE symbols SET name = '</script><img src=x onerror="window.hostile=1"><b>' || name || char(8232) || '"''&amp;\u003c' || char(8238);
UPDATE graph_names SET name = '</script><img src=x onerror="window.hostile=1"><b>' || name || char(8232);
UPDATE calls SET name = '<svg onload=window.hostile=1>' || name;
UPDATE ranges SET name = '<!--<script>window.hostile=1</script>' || name;
UPDATE meta SET value = '</title><script>window.hostile=1</script>' WHERE key = 'command';
UPDATE processes SET command = '</script><script>window.hostile=1</script> x';
SQL
expect hostile.db hostile
"$rtl" export hostile.db --to html --families rules -o hostile/page.html >export.out 2>export.err || fail "rtl export of hostile names ended with status $?"
"$node" "$here/page.mjs" "$build/viewer" "$chromium" hostile >page.out 2>page.err || fail "the page of hostile names is not as it should be"
