#!/usr/bin/env bash
# steps.sh BUILD PLUGIN: the steps of a server and of a trainer, as many as they did, and of the demo; their times and the
# causes of idle times against a second computation from the trace's tables, and against what was planted.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1

for what in serve train make stop parts; do
    "$rtl" trace -q -m full --gpu soft -o $what.db -- "$bin/steps" $what >$what.out 2>$what.err ||
        fail "the program ended with status $?"
    "$rtl" check $what.db >check.out || fail "the trace of $what is not complete"
done
SOFTGPU_DEVICES=2 "$rtl" trace -q -m full --gpu soft -o peers.db -- "$bin/steps" peers >peers.out 2>peers.err ||
    fail "the program ended with status $?"
"$rtl" check peers.db >check.out || fail "the trace of peers is not complete"
"$rtl" trace -q -m full --gpu soft -o two.db -- bash -c '"$1" train & "$1" serve; wait' two "$bin/steps" >two.out 2>two.err ||
    fail "the programs ended with status $?"
# All kernels 10 % slower; and two kernels of the decode graph made one.
for what in "slow 22000" "fused 20000 3"; do
    "$rtl" trace -q -m full --gpu soft -o "${what%% *}.db" -- "$bin/steps" serve ${what#* } >slow.out 2>slow.err ||
        fail "the program ended with status $?"
done
SOFTGPU_PLUGINS=$build/lib/softgpu/decode_plugin.so "$rtl" trace -q -m full --gpu soft -o demo.db -- \
    "$build/bin/rtl-demo-decode" --tokens 60 --layers 3 >demo.out 2>demo.err || fail "the demo ended with status $?"
echo 'hip_takes = takes' >rules
/usr/bin/python3 "$here/steps.py" "$rtl" serve.db train.db demo.db make.db slow.db fused.db stop.db parts.db peers.db two.db ||
    fail "the steps are not those of the program"

"$rtl" diff serve.db fused.db >diff.out
grep -qxF "  a step of graph 2: 4.0 kernels in graphs, then 3.0" diff.out || fail "a fusion is not told: $(cat diff.out)"

# status WANTED FAIL-IF: of a comparison with the slower server.
status() {
    local status=0
    "$rtl" diff --fail-if "$2" serve.db slow.db >diff.out || status=$?
    equal "status with --fail-if '$2'" $status "$1"
}
status 1 "kernels > 5%"
status 0 "kernels>10.5 %"
"$rtl" diff --fail-if "kernels > 5%" serve.db slow.db 2>fail.err >diff.out || true
equal "what is beyond its limit" "$(cat fail.err)" \
    "rtl: kernels: hip_takes(int*, unsigned int const*) got slower by 10.0 %, more than 5 %"
"$rtl" diff --fail-if "kernels > 5%" serve.db slow.db >both.out 2>&1 || true
equal "what a log of both ends with" "$(tail -n 1 both.out)" "$(cat fail.err)"

# refused PATTERN COMMAND...: status 2, one sentence that says so.
refused() {
    local status=0
    "$rtl" "${@:2}" >refused.out 2>refused.err || status=$?
    equal "status of ${*:2}" $status 2
    equal "what ${*:2} says" "$(cat refused.err)" "rtl: $1"
}
refused "train.db has no graphs" graph costs train.db
refused "train.db has no steps: no launches of graphs that do the same repeat three times (--by graph:N: whatever graph N does)" steps --by launches train.db
refused "serve.db has no graph 7: it has 1, 2" steps --by graph:7 serve.db
refused "serve.db has no range 'step': rtl ranges shows those that it has" steps --by range:step serve.db
refused "none cannot be opened: No such file or directory" steps --families none serve.db
refused "--families is given twice" steps --families rules --families rules serve.db
refused "--families is given twice" diff --families rules --families rules serve.db slow.db
refused "--families is given twice" graph diff --families rules --families rules serve.db slow.db 2
refused "--by is given twice" steps --by kernels --by launches serve.db
refused "--fail-if is given twice for steps" diff -f "steps > 1%" -f "steps>2%" serve.db slow.db
refused "--fail-if: the traces have no graphs in common" diff -f "graphs > 1%" serve.db train.db
for limit in "steps > 0x1%" "" steps "steps >" "steps > x%" "steps > 3 x" "steps > -1%" "> 3%" "family: > 3%" "steps > nan%" "steps > 3%%"; do
    refused "'$limit' is nothing for --fail-if: it is such as 'steps > 3%', 'graphs > 3%', 'kernels > 10%', 'total > 3%', 'count > 3%', 'family:gemm > 3%' or, of a phase, 'graph 2 > 3%'" \
        diff --fail-if "$limit" serve.db slow.db
done
refused "--fail-if 'kernels>5' lacks a %: limits are per cent, as in 'kernels > 5%'" diff --fail-if "kernels>5" serve.db slow.db
refused "--fail-if ' graph 2 > 2.5 ' lacks a %: limits are per cent, as in 'graph 2 > 2.5%'" diff serve.db slow.db -f " graph 2 > 2.5 "
# Ranges are steps in a comparison as well.
"$rtl" diff --by range:token serve.db slow.db >diff.out
grep -Eq '^ +100 +100 .* range token$' diff.out || fail "the tokens are not compared: $(head -n 20 diff.out)"
refused "slow.db has no range 'request2': rtl ranges shows those that it has" diff --by range:request2 slow.db serve.db
for by in "" nothing graph graph: graph:x graph:1.1 range: launch; do
    refused "--by is auto, launches, kernels, graph:NUMBER or range:NAME, not '$by'" steps --by "$by" serve.db
done
