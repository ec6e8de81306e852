#!/usr/bin/env bash
# The programs that script/bench runs, small: each prints the line of JSON that script/bench asks for, counts what went through it, and
# what it calls the floor gives each kernel a signal of its own. No time is asserted but that there is one.
source "$(dirname "$0")/../e2e/lib.sh"
export SOFTGPU_DURATION=0

# line ITEMS FIELDS PROGRAM ARGUMENT...: the program's JSON has these fields, numbers above 0, and so many items.
line() {
    local items=$1 fields=$2
    shift 2
    "$bin/$1" "${@:2}" >line.out 2>line.err || fail "$* ended with status $?"
    python3 - "$items" "$fields" <<'END' || fail "$* prints something else"
import json, sys
line = json.load(open("line.out"))
assert line["items"] == int(sys.argv[1]), line
assert all(line[field] > 0 for field in sys.argv[2].split()), line
END
}

# Signals of the kernels that the device executed in the last run, one a line.
signals() {
    "$build/bin/softgpu-run" --truth truth | sed -n 's/^kernel .* signal=\([^ ]*\) .* storm_[a-z]*$/\1/p'
}

# What a part handles in a round, and four rounds for warming up.
for part in pool push record read encode decode; do
    line $((5 * 32768)) cpu_ns bench_parts $part 1
done
for part in reader reader-time; do
    line $((5 * 4 * 32768)) cpu_ns bench_parts $part 1
done
for shape in named flat growing eager; do
    line 4000 cpu_ns bench_graphs 40 100 $shape
done
# Rounds of 256 packets, 16 of them for warming up.
for kind in none borrowed replaced call launch found; do
    line $((26 * 256)) "rewrite_ns harvest_ns floor_ns" bench_rewrite $kind 16 2560
done

export LD_PRELOAD=$soft SOFTGPU_TRUTH=$scratch/truth
line 2000 "free_ns malloc_ns launch_ns module_launch_ns" bench_calls 2
line 100000 "range_ns mark_ns" bench_ranges
# 64 batches for warming up.
line 296 "median_ns cpu_ns" bench_submit 4 10
equal "signals without the floor" "$(signals | sort | uniq -c | xargs)" "296 0x0"
line 296 "median_ns cpu_ns" bench_submit 4 10 floor
equal "kernels at the floor" "$(signals | wc -l)" 296
equal "signals at the floor" "$(signals | grep -v '^0x0$' | sort -u | wc -l)" 296

# 8 launches for warming up.
line 180 "launch_ns node_ns cpu_ns" bench_replay 10 10
equal "kernels of replays" "$("$build/bin/softgpu-run" --truth truth | grep -c '^kernel .*replayed')" 180

# And one batch on each queue for warming up.
for batch in 1 16; do
    line $((10000 + 4 * batch)) "median_ns_10000 cpu_ns_10000" bench_growth 10000 4 2 0 $batch
    equal "kernels in batches of $batch" "$(signals | wc -l)" $((10000 + 4 * batch))
done

# wrong PATTERN -- COMMAND...: is told so in one sentence.
wrong() {
    local pattern=$1 status=0
    shift 2
    "$@" >wrong.out 2>wrong.err || status=$?
    [ "$status" != 0 ] || fail "'$*' is taken"
    equal "lines of '$*'" "$(wc -l <wrong.err)" 1
    grep -q -e "$pattern" wrong.err || fail "the sentence of '$*' does not say '$pattern'"
}
wrong "pool|push" -- "$bin/bench_parts" pull
wrong "FROM below TO" -- "$bin/bench_growth" 10000 4 2 0 16 110 20
wrong floor -- "$bin/bench_submit" 4 10 ceiling
wrong "NODES from 1" -- "$bin/bench_replay" 0 10
wrong "named|flat" -- "$bin/bench_graphs" 8 8 round
wrong "'idle'" -- "$here/../../script/bench" --only submit,idle
wrong "'two'" -- "$here/../../script/bench" --rounds two
wrong "needs a value" -- "$here/../../script/bench" --only
wrong "'--fast'" -- "$here/../../script/bench" --fast
