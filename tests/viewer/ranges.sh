#!/usr/bin/env bash
# ranges.sh BUILD NODE CHROMIUM PLUGIN PROGRAM [ARGUMENT...]: a program is recorded, and each number on the page's list of ranges is that of
# `rtl ranges` (ranges.mjs), each count of a hardware counter that of SQL (counters.mjs). Then the same names are made hostile.
# `counted KERNELS` writes a trace with hardware counters itself.
source "$(dirname "$0")/../tools/lib.sh"
node=$2 chromium=$3 plugin=$4
shift 4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
unset "${!SOFTGPU_@}"

if [ "$1" = counted ]; then
    "$build/tests/bin/counted" t.db "$2" >counted.out 2>counted.err || fail "the trace was not written"
else
    [ "$1" != ranges ] || export SOFTGPU_DURATION=1000 # its kernels tell no duration
    SOFTGPU_PLUGINS=$plugin SOFTGPU_TRUTH=$scratch/truth HIP_GRAPHS_EXPECTED=$scratch/expected "$rtl" trace -q -m full --gpu soft -o t.db \
        -- "$build/tests/bin/$1" "${@:2}" >traced.out 2>traced.err || fail "the program ended with status $?"
fi

look() {
    mkdir -p "$2"
    "$rtl" ranges --json --metrics all "$1" >"$2/ranges.json" || fail "rtl ranges ended with status $?"
    "$rtl" export "$1" --to html -o "$2/page.html" >export.out 2>export.err || fail "rtl export ended with status $?"
    "$node" "$here/ranges.mjs" "$build/viewer" "$chromium" "$2" >page.out 2>page.err || fail "the ranges of the page are not as they should be"
    "$rtl" sql --json "$1" "SELECT c.kernel, c.name, c.value, k.name AS of FROM kernel_counters c JOIN kernels k ON k.id = c.kernel" >"$2/counters.json"
    [ "$("$rtl" sql "$1" "SELECT count(*) FROM kernel_counters")" = 0 ] ||
        "$node" "$here/counters.mjs" "$build/viewer" "$chromium" "$2" >page.out 2>page.err || fail "the counters of the page are not as they should be"
}
look t.db plain
# What names do is no matter of the program that has them; this one has counters too.
[ -z "${RTL_TEST_BRIEF:-}" ] || [ "$1" = counted ] || exit 0

if [ "$1" = counted ]; then
    "$build/tests/bin/counted" hostile.db 400 2>counted.err || fail "a small trace was not written"
else
    cp t.db hostile.db
fi
sqlite3 hostile.db >sqlite.out <<'SQL' || fail "sqlite3 ended with status $?"
UPDATE symbols SET name = '</script><img src=x onerror="window.hostile=1"><b>' || name || char(8232) || '"''&amp;\u003c' || char(8238);
UPDATE counters SET name = '<svg onload=window.hostile=1>' || name;
UPDATE ranges SET name = '</script><!--<script>window.hostile=1</script><svg onload=window.hostile=1>' || name;
SQL
look hostile.db hostile
