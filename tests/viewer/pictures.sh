#!/usr/bin/env bash
# pictures.sh BUILD FOLDER: makes the pictures of docs/viewer.md and docs/steps.md in FOLDER, from the demo and from the example with ranges. Times differ each time.
here=$(realpath "$(dirname "$0")") folder=$(realpath "$2")
source "$here/../tools/lib.sh" "$(realpath "$1")"
unset "${!SOFTGPU_@}"
"$rtl" demo --tokens 400 --keep demo.db >demo.out 2>demo.err || fail "rtl demo ended with status $?"
SOFTGPU_PLUGINS=$build/tests/lib/libsoftgpu_hip_plugin.so "$rtl" trace -q --gpu soft --metrics waves,l2_hit,gpu_busy -o ranges.db -- \
    "$build/tests/bin/ranges_example" >ranges.out 2>ranges.err || fail "the example ended with status $?"
for name in demo ranges; do
    # Whoever looks at the picture has it elsewhere.
    sqlite3 $name.db "UPDATE meta SET value = replace(replace(value, '$build/', '/opt/rtl/'), ' --tokens 400', '') WHERE key = 'command'"
    "$rtl" export $name.db --to html -o $name.html >export.out 2>export.err || fail "rtl export ended with status $?"
done
"$rtl" report demo.db -o report.html >report.out 2>report.err || fail "rtl report ended with status $?"
node "$here/pictures.mjs" "$build/viewer" "$(command -v chromium-headless-shell || command -v chromium)" . "$folder" >page.out 2>page.err || fail "no pictures"
python3 "$here/palette.py" "$folder"/{viewer-{timeline,graphs,ranges,tables},report}.png >palette.out 2>palette.err || fail "the pictures keep all their colours"
