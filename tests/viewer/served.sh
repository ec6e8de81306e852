#!/usr/bin/env bash
# served.sh BUILD: `rtl view` without -o: who is answered (served.py), what it says, and how it ends.
source "$(dirname "$0")/../tools/lib.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export TMPDIR=$scratch/tmp
mkdir tmp
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || true; rm -rf "$scratch"' EXIT
SOFTGPU_PLUGINS=$build/tests/lib/e2e_plugin.so "$rtl" trace -q -m full --gpu soft -o t.db -- "$build/tests/bin/hsa_storm" --dispatches 2000 \
    --batch 16 --threads 2 --queues 2 >trace.out 2>trace.err || fail "rtl trace ended with status $?"

# begin ARGUMENTS...: serves in the background, and waits for the address, `url`.
begin() {
    rm -f serve.out
    "$rtl" view t.db "$@" >serve.out 2>serve.err &
    pid=$!
    for _ in $(seq 1200); do
        [ ! -s serve.out ] || break
        kill -0 $pid 2>/dev/null || fail "rtl view $* ended before it served"
        sleep 0.05
    done
    url=$(cat serve.out)
}
# ended NUMBER: waits for it, and holds its status against the number.
ended() {
    local status=0
    wait $pid || status=$?
    pid=
    equal "status of rtl view" "$status" "$1"
}
# within FILE WORDS: waits until a file has them.
within() {
    for _ in $(seq 1200); do
        ! grep -q -e "$2" "$1" 2>/dev/null || return 0
        sleep 0.05
    done
    fail "$1 does not say '$2'"
}

begin --no-open
python3 "$here/served.py" "$url" $pid || fail "it does not answer as it should"
ended 0
equal "lines that are printed" "$(wc -l <serve.out)" 1
equal "words about it" "$(cat serve.err)" ""
equal "files that are left" "$(ls tmp)" ""
first=$url

# The browser is given the address; SIGTERM ends it, too. Another token each time.
printf '#!/bin/sh\necho "$1" >%s/opened\n' "$scratch" >browser
chmod +x browser
begin --browser "$scratch/browser"
within opened http
equal "what the browser is given" "$(cat opened)" "$url"
[ "${url#*1:*/}" != "${first#*1:*/}" ] || fail "the token is the same"
kill -TERM $pid
ended 0

# A port that is named, which is taken then.
port=${url#http://127.0.0.1:} port=${port%%/*}
begin -n --port "$port"
[[ $url = http://127.0.0.1:$port/* ]] || fail "it is served at $url"
status=0
"$rtl" view t.db -n --port "$port" >taken.out 2>taken.err || status=$?
equal "status where the port is taken" "$status" 2
grep -q "^rtl: --port $port: .*in use" taken.err || fail "a port that is taken: $(cat taken.err)"

# Without its trace the page stays, and a window says what is wrong.
mv t.db gone.db
python3 - "$url" >window.out <<'END' || fail "a window of a trace that is gone"
import sys, urllib.error, urllib.request
assert urllib.request.urlopen(sys.argv[1]).status == 200
try:
    urllib.request.urlopen(sys.argv[1] + "window?from=0&to=5")
    sys.exit("there is a window of no trace")
except urllib.error.HTTPError as error:
    assert error.code == 500
    print(error.read().decode())
END
grep -q "t.db.*No such file" window.out || fail "the page is not told what is wrong: $(cat window.out)"
# Nor are there windows of a recording that has taken its name.
cp gone.db t.db
python3 - "$url" >window.out <<'END' || fail "a window of another trace"
import sys, urllib.error, urllib.request
try:
    urllib.request.urlopen(sys.argv[1] + "window?from=0&to=5")
    sys.exit("there is a window of another trace")
except urllib.error.HTTPError as error:
    assert error.code == 500
    print(error.read().decode())
END
equal "what is told of another trace" "$(head -n 1 window.out)" "t.db is another file now: begin rtl view again"
mv gone.db t.db
kill -INT $pid
ended 0

# Without a browser it goes on.
begin --browser false
within serve.err "'false' did not open the page; open $url by hand"
python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1])' "$url" || fail "without a browser nothing is served"
kill -INT $pid
ended 0
equal "lines about a browser that is not there" "$(wc -l <serve.err)" 1
