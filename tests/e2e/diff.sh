#!/usr/bin/env bash
# diff.sh BUILD PLUGIN: rtl diff of three runs a side of a server, with what is planted in the second side and without: kernels
# that take 10 % longer, one layer that takes 20 % longer, one wait more, two kernels made one.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1

# The sides in turn, so that what the machine does meanwhile meets all of them.
for run in 1 2 3; do
    for side in "base 20000" "same 20000" "slow 22000" "layer 20000 4 layer" "sync 20000 4 sync" "fused 20000 3"; do
        read -ra words <<<"$side"
        "$rtl" trace -q -m full --gpu soft -o "${words[0]}$run.db" -- "$bin/steps" serve "${words[@]:1}" \
            >"${words[0]}.out" 2>"${words[0]}.err" || fail "the program ended with status $?"
    done
done
"$rtl" trace -q -m full --gpu soft -o train.db -- "$bin/steps" train >train.out 2>train.err ||
    fail "the program ended with status $?"
# A graph of layers.
for side in "model 200000" "model12 224000" "modellayer 200000 4 layer" "modelfused 200000 4 fused" "modelbatch 200000 4 batch"; do
    read -ra words <<<"$side"
    "$rtl" trace -q -m full --gpu soft -o "${words[0]}.db" -- "$bin/steps" layers "${words[@]:1}" >"${words[0]}.out" \
        2>"${words[0]}.err" || fail "the program ended with status $?"
done
echo 'hip_takes = takes' >rules
printf '%s\n' 'hip_(takes|move) = gemm' 'hip_(scale|add) = elementwise' 'hip_lasts = norm' >model.rules
/usr/bin/python3 "$here/diff.py" "$rtl" || fail "the differences are not those that were planted"

# shows TRACE PATTERN: a line of what is shown of the model's graph and that of the trace, in 80 columns before the kernels' names.
shows() {
    "$rtl" graph diff --families model.rules model.db "$1" >places.out
    grep -Eq -- "$2" places.out || fail "rtl graph diff model.db $1 does not show '$2'"
    long=$(sed '1d; /^  node /,$d' places.out | awk 'length > 80')
    equal "lines of $1 longer than 80 columns" "$long" ""
}
shows model12.db '^      1     1  200\.0 us  224\.0 us  \+12\.0 %  0\.0 %  gemm$'
shows modellayer.db '^  layer 3 is outlying in the second alone: its kernels take \+18\.5 %$'
shows modelfused.db '^  6 layers of 4 nodes, then 6 layers of 3 nodes$'
shows modelfused.db '^    2\+3     2 .* fused: elementwise\+norm$'
shows modelbatch.db '^      1     1 .* other kernel: gemm$'

"$rtl" diff base1.db base2.db base3.db -- layer1.db layer2.db layer3.db >places.out
grep -qxF "  layer 2 is outlying in the second alone: its kernels take +20.0 %" places.out || fail "rtl diff names no slow layer"

# status WANTED ARGUMENTS...: of rtl diff.
status() {
    local status=0
    "$rtl" diff "${@:2}" >status.out 2>status.err || status=$?
    equal "status of rtl diff ${*:2}" $status "$1"
}
base=(base1.db base2.db base3.db)
slow=(slow1.db slow2.db slow3.db)
for limit in "family:other > 9%" "family:other>9 %" "kernels > 9%"; do
    status 1 --fail-if "$limit" "${base[@]}" -- "${slow[@]}"
    status 0 --fail-if "$limit" "${base[@]}" -- same1.db same2.db same3.db
    status 0 --fail-if "${limit/9/11}" "${base[@]}" -- "${slow[@]}"
done
# The GPU's work in the steps, where those as a whole are not told apart.
status 1 --fail-if "graph 2 > 9%" "${base[@]}" -- "${slow[@]}"
status 1 --fail-if "steps > 9%" "${base[@]}" -- "${slow[@]}"
grep -q "^rtl: graphs in steps: graph 2 got slower by 10.0 %" status.err || fail "the GPU's work is not what is slower: $(cat status.err)"
status 1 --families rules -f "family:takes > 9%" "${base[@]}" -- "${slow[@]}"
equal "what is beyond its limit" "$(cat status.err)" "rtl: families of graph 2: takes got slower by 10.0 %, more than 9 %
rtl: families of graph 1: takes got slower by 10.0 %, more than 9 %"
# A name, or a number; nobody gets slower by that much, on whichever machine (tools.Diff has some that do).
status 0 --fail-if "graph 2 > 100000%" "${base[@]}" -- "${slow[@]}"
status 0 --fail-if "1 > 100000%" --fail-if "2 > 100000%" "${base[@]}" -- "${slow[@]}"
# The time of all kernels, which grew by 10 %; a fusion is less kernels. All make as many calls, but that of one kernel less.
status 1 --fail-if "total > 5%" "${base[@]}" -- "${slow[@]}"
status 0 --fail-if "total > 15%" "${base[@]}" -- "${slow[@]}"
status 0 --fail-if "total > 1%" --fail-if "count > 0%" "${base[@]}" -- same1.db same2.db same3.db
status 0 --fail-if "count > 0%" base1.db slow1.db
status 0 --fail-if "count > 0%" base1.db fused1.db
status 1 --fail-if "count > 0%" fused1.db base1.db
# Other ways to write the same sides; options may stand anywhere.
"$rtl" diff "${base[@]}" -- "${slow[@]}" >one.list
"$rtl" diff -- "${base[@]}" -- "${slow[@]}" >other.list
cmp -s one.list other.list || fail "a first -- changes what is compared"
"$rtl" diff base1.db slow1.db >one.list
"$rtl" diff base1.db -- slow1.db >other.list
cmp -s one.list other.list || fail "two files are not two sides of one"
grep -q "one run a side cannot tell" one.list || fail "nothing is said of one run a side"
long=$(awk 'length > 100' one.list)
equal 'lines longer than 100 columns' "$long" ''

# Which phase is found first is the machine's.
phases="1 (graph 1), 2 (graph 2)"
! "$rtl" steps --json base1.db | jq -e '.threads[0].phases[0].what == "graph 2"' >phases.out || phases="1 (graph 2), 2 (graph 1)"
# refused SENTENCE ARGUMENTS...: status 2, one sentence that says so.
refused() {
    status 2 "${@:2}"
    equal "what rtl diff ${*:2} says" "$(cat status.err)" "rtl: $1"
    equal "what rtl diff ${*:2} writes" "$(cat status.out)" ""
}
refused "--fail-if: the traces have no phase 'decode' in common: $phases" -f "decode > 3%" base1.db slow1.db
refused "--fail-if: the traces have no phase 'graph' in common: $phases" -f "graph > 3%" base1.db slow1.db
refused "--fail-if: the traces have no phase '3' in common: $phases" -f "3 > 3%" base1.db slow1.db
refused "--fail-if: the traces have no family 'gem' in common: other" -f "family:gem > 3%" base1.db slow1.db
refused "--fail-if: the traces have no phase 'graph 2' in common, and no other one" -f "graph 2 > 3%" base1.db train.db
refused "'base1.db' is named twice on a side: each run is a recording of its own" base1.db base1.db -- slow1.db slow2.db
refused "'slow1.db' is named twice on a side: each run is a recording of its own" base1.db -- slow1.db base2.db slow1.db
refused "--fail-if is given twice for graph 2" -f "graph 2 > 1%" -f "graph 2>2%" base1.db slow1.db
refused "--fail-if is given twice for family:gemm" -f "family:gemm > 1%" -f "family:gemm>2%" base1.db slow1.db
refused "no trace was named behind --: rtl diff FILE FILE -- FILE FILE" base1.db base2.db --
refused "two traces at a time: 'base3.db' is a third one; of several runs a side: rtl diff FILE FILE -- FILE FILE" "${base[@]}"
refused "none cannot be opened: No such file or directory" --families none base1.db slow1.db
# One run a side does not tell whether the next one of the same program takes as long: that is neither a failure nor a pass.
for what in steps graphs total "graph 2" 1; do
    for pair in "base1.db same1.db" "base2.db base3.db" "base1.db slow1.db"; do
        read -ra words <<<"$pair"
        refused "--fail-if $what needs several runs a side, rtl diff A A A -- B B B: one run does not tell what the next one of the \
same program would take (kernels and count can be judged by one)" --fail-if "$what > 5%" "${words[@]}"
    done
done
# Without steps in common a family is a total.
refused "--fail-if family:other needs several runs a side, rtl diff A A A -- B B B: one run does not tell what the next one of the \
same program would take (kernels and count can be judged by one)" --fail-if "family:other > 5%" base1.db train.db
"$rtl" diff --json base1.db slow1.db >one.json
jq -e '[.steps[] | .verdict, .parts.idle.verdict] + [.graphs[].verdict] | unique == ["too few"]' one.json >jq.out ||
    fail "one run a side has a verdict on steps, idle times or launches"
# What other tools call it, and options behind --.
refused "unknown option '--threshold', see rtl diff --help: a limit on what gets slower is such as --fail-if 'kernels > 5%'" \
    base1.db slow1.db --threshold 5
refused "option '--top' needs a value, see rtl diff --help" base1.db slow1.db --top
for word in --fail-if -f "--fail-if=kernels > 5%"; do
    refused "'$word' behind -- is taken for a trace, and there is none of that name: options stand before --" \
        base1.db base2.db -- slow1.db slow2.db "$word" "kernels > 5%"
done
cp slow1.db ./--slow.db
status 1 --fail-if "kernels > 5%" base1.db -- --slow.db

# Kernels that were lost: as many as the truth has more than the trace. It is told, and no limit passes.
SOFTGPU_TRUTH=lost RTL_POOL=2 "$rtl" trace -q -m full --gpu soft -o lost.db -- "$bin/steps" serve 20000 >lost.out 2>lost.err ||
    fail "the program ended with status $?"
executed=$("$build/bin/softgpu-run" --truth lost | grep -c '^kernel .*hip_') || true
stored=$("$rtl" sql --no-headings lost.db "SELECT count(*) FROM kernels WHERE name LIKE 'hip\_%' ESCAPE '\'")
[ "$executed" -gt "$stored" ] || fail "no kernel was lost: $executed executed, $stored in the trace"
"$rtl" diff base1.db lost.db >lost.list
grep -q "^  lost.db: INCOMPLETE: .* $((executed - stored)) lost (" lost.list || fail "it is not told what was lost: $(sed -n 1,8p lost.list)"
for limit in "kernels > 100000%" "count > 100000%"; do
    status 2 --fail-if "$limit" base1.db lost.db
    grep -q "^rtl: --fail-if wants complete traces, and lost.db is not: INCOMPLETE: " status.err || fail "lost.db is not named"
done
many=()
for ((i = 0; i < 101; i++)); do many+=(base1.db); done
refused "a side has 100 runs at most: 'base1.db' is one more" base1.db -- "${many[@]}"
