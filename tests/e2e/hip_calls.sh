#!/usr/bin/env bash
# hip_calls.sh BUILD PLUGIN PROGRAM [ARGUMENTS...]: a program that counts the host calls of HIP that it and its
# children make ("made NAME COUNT"), alone and under `rtl trace` in each mode: the same status, output (what each call
# returned, HIP's last error, errno) and errors; in the modes with host calls, those and no others are in the trace.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth.%p
shift

# The name of HIP's library of its release.
HIP_LIBRARY=$(ldd "$bin/hip_calls" | sed -n 's/^[[:space:]]*\(libamdhip64[^ ]*\) .*/\1/p')
export HIP_LIBRARY

# What is preloaded besides.
preload=${E2E_PRELOAD:-}

alone=0
LD_PRELOAD=${preload:+$preload:}$soft "$@" >alone.out 2>alone.err || alone=$?
awk '$1 == "made" { made[$2] += $3 } END { for (name in made) print name "|" made[name] }' alone.out |
    LC_ALL=C sort >made
[ -s made ] || fail "the program counted nothing"

# traced MODE: runs the program in a mode and compares what can be seen of it.
traced() {
    local status=0
    rm -f truth.* t.db
    LD_PRELOAD=$preload "${hip_traced[@]}" "$rtl" trace -q -m "$1" --gpu soft -o t.db -- "${program[@]}" >traced.out 2>traced.err || status=$?
    equal "exit status in mode $1" "$status" "$alone"
    cmp -s alone.out traced.out || fail "the program's output differs in mode $1"
    without_remarks alone.err traced.err
    cmp -s alone.err traced.err || fail "the program's errors differ in mode $1"
    equal "verdict in mode $1" "$("$rtl" check t.db >check.out 2>check.err && echo complete)" complete
}

# none WHAT QUERY: the query must have no rows.
none() {
    local rows
    rows=$(ask t.db "$2 LIMIT 5")
    [ -z "$rows" ] || fail "$1: $rows"
}

program=("$@")
for mode in lite standard; do
    traced "$mode"
    equal "host calls in mode $mode" "$(ask t.db "SELECT count(*) FROM api")" 0
done
for mode in hip full; do
    traced "$mode"
    ask t.db "SELECT name, count(*) FROM api GROUP BY name" | LC_ALL=C sort >recorded
    diff made recorded >differences || fail "calls in mode $mode are not those made: $(head -n 5 differences)"
    none "calls without a time" "SELECT * FROM api WHERE NOT (start > 0 AND start <= end)"
    none "correlations that two calls have" \
        "SELECT process, correlation FROM api GROUP BY process, correlation HAVING count(*) > 1"
    none "calls of a thread within each other" "SELECT * FROM (SELECT name, start,
        lag(end) OVER (PARTITION BY process, thread ORDER BY start) AS before FROM api) WHERE start < before"
    for operations in kernels copies; do
        none "$operations that belong to no call" "SELECT o.id FROM $operations o LEFT JOIN api a
            ON a.process = o.process AND a.correlation = o.correlation WHERE a.id IS NULL"
        none "$operations before their call" "SELECT o.id, o.start, a.start FROM $operations o JOIN api a
            ON a.process = o.process AND a.correlation = o.correlation WHERE o.start < a.start"
    done
done
logs=()
for log in truth.*; do
    logs+=(--truth "$log")
done
"$rtl" check "${logs[@]}" t.db >check.out 2>check.err || fail "rtl check --truth ended with status $?"
