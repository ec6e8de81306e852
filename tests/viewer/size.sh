#!/usr/bin/env bash
# size.sh BUILD: pages that may not be as large as all that a trace has, held against SQL over the same trace (size.py).
source "$(dirname "$0")/../tools/lib.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
read_sql() {
    "$rtl" sql --json "$1.db" "SELECT id, process, queue, name, start, end, graph, launch, node FROM kernels" >"$1.kernels.json"
    "$rtl" sql --json "$1.db" "SELECT process, graph, launch, start, end FROM graph_launches ORDER BY process, graph, launch" >"$1.launches.json"
    "$rtl" idle --json "$1.db" >"$1.idle.json"
}
for kind in eager replay; do
    queues=4
    [ $kind = eager ] || queues=1
    "$build/tests/bin/bench_store" --write $kind --queues $queues --kernels 180000 --file $kind.db >written.out || fail "$kind.db was not written"
    read_sql $kind
    "$rtl" export $kind.db --to html -o $kind-all.html >export.out 2>export.err || fail "the whole page: status $?"
    equal "words about the whole page" "$(cat export.err)" ""
    for size in 900K 300K 20K; do
        "$rtl" export $kind.db --to html --page-size $size -o $kind-$size.html >export.out 2>$kind-$size.err || fail "a page of $size: status $?"
    done
    "$rtl" export $kind.db --to html --detail 400K -o $kind-detail.html >export.out 2>$kind-detail.err || fail "a page with --detail: status $?"
    python3 "$here/size.py" $kind || fail "the pages of $kind are not as they should be"
done
# Nodes, host calls and copies.
"$rtl" demo --tokens 200 --keep demo.db >demo.out 2>demo.err || fail "rtl demo ended with status $?"
read_sql demo
"$rtl" export demo.db --to html -o demo-all.html >export.out 2>export.err || fail "the page of the demo: status $?"
"$rtl" export demo.db --to html --page-size 20K -o demo-20K.html >export.out 2>demo-20K.err || fail "a small page of the demo: status $?"
python3 "$here/size.py" demo || fail "the pages of the demo are not as they should be"
# Both bounds hold.
"$rtl" export eager.db --to html --page-size 900K --detail 10K -o both.html >export.out 2>export.err || fail "both bounds: status $?"
[ "$(stat -c %s both.html)" -lt "$(stat -c %s eager-900K.html)" ] || fail "--detail is not held where --page-size is given"
[ "$(grep -c "larger than --page-size" demo-20K.err)" = 1 ] || fail "it is not said that a page is larger than it should be: $(cat demo-20K.err)"
