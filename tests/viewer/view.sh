#!/usr/bin/env bash
# view.sh BUILD NODE CHROMIUM PLUGIN decode | PROGRAM SCENARIO: what the page says of all of a trace and of a window is compared with `rtl summary`
# and `rtl idle` of the same, and how it looks at three sizes, light and dark, is measured (view.mjs).
source "$(dirname "$0")/../tools/lib.sh"
node=$2 chromium=$3 plugin=$4
shift 4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
unset "${!SOFTGPU_@}"

if [ "$1" = decode ]; then
    program=("$build/bin/rtl-demo-decode" -q --layers 4 --tokens 24) # 51 nodes
    export SOFTGPU_PLUGINS=$build/lib/softgpu/decode_plugin.so
else
    program=("$build/tests/bin/$1" "${@:2}")
    export SOFTGPU_PLUGINS=$plugin SOFTGPU_DURATION=1000 # its kernels tell no duration
fi
SOFTGPU_TRUTH=$scratch/truth "$rtl" trace -q -m full --gpu soft -o t.db -- "${program[@]}" >traced.out 2>traced.err ||
    fail "the program ended with status $?"

# A window that begins in the middle of a kernel and ends in that of another.
window=$("$rtl" sql --json t.db "SELECT (SELECT start + duration / 2 FROM kernels ORDER BY start LIMIT 1 OFFSET (SELECT count(*) / 4 FROM kernels)) AS from_ns,
    (SELECT start + duration / 2 FROM kernels ORDER BY start LIMIT 1 OFFSET (SELECT count(*) / 2 FROM kernels)) AS to_ns")
from=$(grep -o '"from_ns": *[0-9]*' <<<"$window" | grep -o '[0-9]*$') to=$(grep -o '"to_ns": *[0-9]*' <<<"$window" | grep -o '[0-9]*$')
echo "{\"from\": $from, \"to\": $to}" >window.json
"$rtl" summary --json t.db >summary.json
"$rtl" summary --json --from "$from" --to "$to" t.db >summary-part.json
"$rtl" idle --json --top 1000 t.db >idle.json
"$rtl" idle --json --top 1000 --from "$from" --to "$to" t.db >idle-part.json
"$rtl" sql --json t.db "SELECT process, thread, name, start, \"end\", kind FROM ranges" >ranges.json
"$rtl" export t.db --to html -o page.html >export.out 2>export.err || fail "rtl export ended with status $?"
"$rtl" export t.db --to html --from "$from" --to "$to" -o part.html >export.out 2>export.err || fail "rtl export of a window ended with status $?"
"$node" "$here/view.mjs" "$build/viewer" "$chromium" . >page.out 2>page.err || fail "the page is not as it should be"
