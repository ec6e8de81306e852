#!/usr/bin/env bash
# first.sh BUILD NODE CHROMIUM: what `rtl view` shows of a trace of millions of kernels until its page is made, in a browser (first.mjs):
# that is what rtl summary and rtl timeline say, and the page comes in its place. Also: a page that cannot be made, and Ctrl-C meanwhile.
source "$(dirname "$0")/../tools/lib.sh"
node=$2 chromium=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export TMPDIR=$scratch/tmp
mkdir tmp
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true; rm -rf "$scratch"' EXIT
"$build/tests/bin/bench_store" --write replay --queues 2 --shapes 50 --kernels 4100000 --file t.db >written.out || fail "t.db was not written"
"$rtl" summary --json --top 30 t.db >summary.json || fail "rtl summary ended with status $?"
"$rtl" timeline --json t.db >timeline.json || fail "rtl timeline ended with status $?"

# begin FILE [OPTION...]: serves it, and holds whoever makes the page, `maker`, as soon as there is an address, `url`.
begin() {
    rm -f serve.out
    "$rtl" view --no-open "$@" >serve.out 2>serve.err &
    pid=$!
    for _ in $(seq 6000); do
        [ ! -s serve.out ] || break
        kill -0 $pid 2>/dev/null || fail "rtl view ended before it served: $(cat serve.err)"
        sleep 0.01
    done
    url=$(cat serve.out)
    maker=$(pgrep -P $pid) || fail "the page of 4.1 million kernels was there before its address"
    kill -STOP "$maker"
}
# ended NUMBER: waits for it, and holds its status against the number.
ended() {
    local status=0
    wait $pid || status=$?
    pid=
    equal "status of rtl view" "$status" "$1"
    equal "files that are left" "$(ls tmp)" ""
}
# gone PID: waits until there is no such process.
gone() {
    for _ in $(seq 6000); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.01
    done
    fail "process $1 is still there"
}

begin t.db
"$node" "$here/first.mjs" "$build/viewer" "$chromium" "$scratch" "$url" "$maker" || fail "the first page, or what comes in its place"
kill -INT $pid
ended 0

# A part of the time: of its kernels it is told how many are done.
from=$("$rtl" sql t.db "SELECT min(start) + 0 FROM kernels")
to=$("$rtl" sql t.db "SELECT max(\"end\") + 0 FROM kernels")
part=(--from "$((from + (to - from) / 4))" --to "$((from + (to - from) * 3 / 4))")
"$rtl" summary --json --top 30 "${part[@]}" t.db >summary.json || fail "rtl summary of a part ended with status $?"
"$rtl" timeline --json "${part[@]}" t.db >timeline.json || fail "rtl timeline of a part ended with status $?"
begin t.db "${part[@]}"
"$node" "$here/first.mjs" "$build/viewer" "$chromium" "$scratch" "$url" "$maker" || fail "the first page of a part, or what comes in its place"
kill -INT $pid
ended 0

# Where the process that makes the page is killed nothing else says why.
begin t.db
kill -KILL "$maker"
ended 2
grep -q "ended by signal 9" serve.err || fail "it is not said that the page's process was killed: $(cat serve.err)"

# Ctrl-C ends who makes the page, too.
begin t.db
kill -INT $pid
ended 0
gone "$maker"

# What nobody has read yet may be damaged: the statistics do not tell. Who makes the page says so, and there is nothing to serve.
cp t.db torn.db
sqlite3 torn.db "UPDATE kernel_chunks SET data = zeroblob(length(data)) WHERE chunk = (SELECT max(chunk) FROM kernel_chunks)"
begin torn.db
kill -CONT "$maker"
ended 2
equal "sentences about what is damaged" "$(grep -c '^rtl: .*torn.db.*damaged' serve.err)" 1
