#!/usr/bin/env bash
# zoom.sh BUILD NODE CHROMIUM PLUGIN decode | PROGRAM ARGUMENTS...: a page that is served with too little room for its events, zoomed into
# what is not in it: the events that it then has are those of `rtl sql` (zoom.mjs).
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
"$rtl" trace -q -m full --gpu soft -o t.db -- "${program[@]}" >traced.out 2>traced.err || fail "the program ended with status $?"

# A window that begins in the middle of a kernel and ends in that of another.
read -r from to < <("$rtl" sql t.db "SELECT (SELECT start + duration / 2 FROM kernels ORDER BY start LIMIT 1 OFFSET (SELECT count(*) / 2 FROM kernels)),
    (SELECT start + duration / 2 FROM kernels ORDER BY start LIMIT 1 OFFSET (SELECT count(*) / 2 + count(*) / 20 + 5 FROM kernels))" | tr '|' ' ')
echo "{\"from\": $from, \"to\": $to}" >window.json
within="start < $to AND \"end\" > $from ORDER BY start, id"
"$rtl" sql --json t.db "SELECT id, name, start, \"end\", gpu, queue, stream, graph, launch, node FROM kernels WHERE $within" >kernels.json
"$rtl" sql --json t.db "SELECT id, name, start, \"end\", thread, result FROM api WHERE $within" >calls.json
"$rtl" sql --json t.db "SELECT id, name, start, \"end\", thread FROM ranges WHERE kind <> 'mark' AND $within" >ranges.json
"$rtl" sql --json t.db "SELECT id, kind AS name, start, \"end\", bytes FROM copies WHERE $within" >copies.json
"$rtl" summary --json --from "$from" --to "$to" t.db >summary.json

# Not quite the room that the events of all of it take.
"$rtl" export t.db -F html -o all.html >export.out 2>export.err || fail "rtl export ended with status $?"
"$rtl" export t.db -F html --detail 1 -o none.html >export.out 2>export.err || fail "rtl export of no event ended with status $?"
room=$((($(stat -c %s all.html) - $(stat -c %s none.html)) * 9 / 10))
"$rtl" export t.db -F html --detail $room -o file.html >export.out 2>export.err || fail "rtl export of some events ended with status $?"
"$rtl" view t.db --no-open --detail $room >serve.out 2>serve.err &
pid=$!
trap 'kill $pid 2>/dev/null || true; rm -rf "$scratch"' EXIT
for _ in $(seq 1200); do
    [ ! -s serve.out ] || break
    sleep 0.05
done
grep -q '^rtl: single events of .* come when one zooms in' serve.err || fail "what is not in the page is not said"
"$node" "$here/zoom.mjs" "$build/viewer" "$chromium" . "$(cat serve.out)" $pid >page.out 2>page.err || fail "the page is not as it should be"
status=0
wait $pid || status=$?
equal "status of rtl view" "$status" 0
