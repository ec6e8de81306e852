#!/usr/bin/env bash
# command.sh BUILD: `rtl view`, and what of `rtl export --to html` a browser is not needed for; also under the sanitizers.
source "$(dirname "$0")/../tools/lib.sh"
export TMPDIR=$scratch/tmp
mkdir tmp

# A trace without a kernel: a program that loads no GPU.
"$rtl" trace -q -m full --gpu soft -o t.db -- true >trace.out 2>trace.err || fail "rtl trace ended with status $?"
[ -f t.db ] || fail "there is no trace"
[ -f "$build/lib/rtl-viewer.html" ] || fail "the viewer was not built"

# An rtl that was built without libmicrohttpd serves nothing: its page is a file in a folder of the user's.
served=$rtl
mkdir -p without/bin without/lib
cp "$rtl" without/bin/
cp "$build/lib/rtl-viewer.html" without/lib/
rtl=$scratch/without/bin/rtl
printf '#!/bin/sh\necho "$1" >%s/opened\n' "$scratch" >browser
chmod +x browser
"$rtl" view t.db --browser "$scratch/browser" >view.out 2>view.err || fail "rtl view ended with status $?"
equal "what the browser is given" "$(cat opened)" "$scratch/tmp/rtl-view-$(id -u)/t.html"
equal "what is printed" "$(cat view.out)" "$scratch/tmp/rtl-view-$(id -u)/t.html"
equal "access to the folder" "$(stat -c %a "tmp/rtl-view-$(id -u)")" 700
grep -q 'id="rtl-head"' "$(cat opened)" || fail "the page has no data"
"$rtl" view t.db -n >view.out 2>view.err || fail "a second rtl view ended with status $?"
"$rtl" view t.db -n -o here.html --from 0s --to 10s --detail 1M >view.out 2>view.err || fail "rtl view -o ended with status $?"
[ -s here.html ] || fail "-o made no page"
rm opened
"$rtl" view t.db -n -o here.html >view.out 2>view.err || fail "rtl view over its own page ended with status $?"
[ ! -e opened ] || fail "-n opened a browser"

refused() {
    local status=0
    "$rtl" "${@:2}" >refused.out 2>refused.err || status=$?
    [ "$status" -ne 0 ] || fail "rtl ${*:2} was not refused"
    equal "lines of the refusal of rtl ${*:2}" "$(wc -l <refused.err)" 1
    grep -q -e "$1" refused.err || fail "rtl ${*:2} says: $(cat refused.err)"
}
refused "no trace was named" view
refused "missing.db" view missing.db -n
refused "second" view t.db t.db
refused "rtl export -F html" view t.db -o -
refused "false' did not open" view t.db --browser false
refused "not-there' did not open" view t.db --browser not-there
# What opens pages where nobody names a browser, on a machine without one: one sentence, and the page is there.
mkdir path
printf '#!/bin/sh\necho "xdg-open: no method available for opening $1"\necho "www-browser: not found" >&2\nexit 3\n' >path/xdg-open
chmod +x path/xdg-open
PATH=$scratch/path:$PATH refused "xdg-open' did not open .*unopened.html; .*--no-open" view t.db -f -o unopened.html
equal "what is printed of a page that was not opened" "$(cat refused.out)" unopened.html
[ -s unopened.html ] || fail "a page that was not opened is not there"
refused "no time for --from" view t.db -n --from soon
refused "no port for --port" view t.db -n --port 65536
refused "no port for --port" view t.db -n --port 0
refused "--port and -o do not go together" view t.db -n --port 5 -o none.html
refused "built without libmicrohttpd" view t.db -n --port 5
refused "no size for --detail" export t.db --to html --detail much
refused "chrome has all there is" export t.db --to chrome --detail 1M
refused "html is not a table" export t.db --to html --table api
refused "html cannot be split" export t.db --to html --split-size 1M
chmod 755 "tmp/rtl-view-$(id -u)"
refused "not a folder of yours alone" view t.db -n
rtl=$served

# A trace with many kernels: all of it, a part, and with too little room.
SOFTGPU_PLUGINS=$build/tests/lib/e2e_plugin.so "$rtl" trace -q -m full --gpu soft -o storm.db -- "$build/tests/bin/hsa_storm" --dispatches 70000 \
    --batch 16 --threads 2 --queues 2 >trace.out 2>trace.err || fail "rtl trace of kernels ended with status $?"
first=$("$rtl" sql storm.db 'SELECT min(start) FROM kernels') last=$("$rtl" sql storm.db 'SELECT max(end) FROM kernels')
"$rtl" export storm.db --to html -o storm.html >export.out 2>export.err || fail "the page of many kernels: status $?"
equal "words about it" "$(cat export.err)" ""
"$rtl" export storm.db --to html --from "$((first + (last - first) / 3))" --to "$((last - (last - first) / 3))" -o part.html >export.out 2>export.err ||
    fail "the page of a part: status $?"
[ "$(stat -c %s part.html)" -lt "$(stat -c %s storm.html)" ] || fail "the page of a part is as large as that of all"
"$rtl" export storm.db --to html --detail 1K -o small.html >export.out 2>export.err || fail "the page with little room: status $?"
grep -q '^rtl: single events of [0-9]* of [0-9]* stretches of time are left out' export.err || fail "what is left out is not said: $(cat export.err)"
"$rtl" export storm.db --to html --per-rank -o ranks.html >export.out 2>export.err || fail "a page for each process: status $?"
[ -s ranks-process1.html ] || fail "there is no page for the process"

# --to names a format, or a time.
"$rtl" export t.db --to html -o - >page.html 2>export.err || fail "the standard output"
cmp -s <(sed 1q page.html) <(echo '<!doctype html>') || fail "the standard output got no page"
"$rtl" export t.db --format csv --to 5s -o - >csv.out 2>export.err || fail "--to with a time"
equal "a table" "$(head -c 3 csv.out)" "id,"

# Without the viewer rtl says what is missing.
mkdir -p elsewhere/bin elsewhere/lib
cp "$rtl" elsewhere/bin/
rtl=$scratch/elsewhere/bin/rtl
refused "the page was not built with this rtl" export t.db --to html -o none.html
[ ! -e none.html ] || fail "a page without a viewer"

# Nothing in the page leads elsewhere, and the repository names no place that packages come from.
if grep -o -E '(src|href)="[^"]*"' "$build/lib/rtl-viewer.html" | grep -v '"data:,"'; then
    fail "the viewer names files"
fi
grep -q "default-src 'none'" "$build/lib/rtl-viewer.html" || fail "the viewer may load things"
