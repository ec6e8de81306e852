#!/usr/bin/env bash
# aql_random.sh BUILD SEEDS PACKETS [PROGRAM_OPTIONS...]: random legal AQL programs (random.h), each alone and under
# `rtl trace` in full mode. The outcome is the same; the program finds nothing wrong, its own times those of the
# truth log included; the trace is what the device executed. SEEDS is FIRST..LAST. Every seed also decides on the
# durations of the kernels and on the hostile switches of the software GPU.
#
# E2E_QUEUE is the way into the queues; E2E_TOOLS names tool libraries that are loaded before RTL. A program that has
# not ended after E2E_PATIENCE seconds hangs.
source "$(dirname "$0")/lib.sh"
seeds=$1 packets=$2
shift 2
kernels=0

patience=${E2E_PATIENCE:-240}

# The device for this seed.
device() {
    local seed=$1
    local quick=(0 0 100 500) middle=(1000 3000 10000)
    export SOFTGPU_DURATION=random_quick=${quick[seed % 4]},random_middle=${middle[seed % 3]},random_slow=200000
    unset SOFTGPU_READ_AHEAD SOFTGPU_DELAY SOFTGPU_REORDER
    ((seed % 2 == 0)) || export SOFTGPU_READ_AHEAD=1
    ((seed % 3 != 1)) || export SOFTGPU_DELAY=2000:$seed
    ((seed % 5 > 2)) || export SOFTGPU_REORDER=$seed
}

# broken SEED WHAT: says how to see it again.
broken() {
    echo "seed $1 failed; once more: ${settings[*]} tests/e2e/aql_random.sh $build $1..$1 $packets ${options[*]}" >&2
    fail "$2"
}
options=("$@")
settings=("E2E_QUEUE=$way")
[ -z "${E2E_TOOLS:-}" ] || settings+=("E2E_TOOLS=$E2E_TOOLS" "MODEL_GENERATION=${MODEL_GENERATION:-}")

# run SEED NAME COMMAND...: its output in NAME.out and NAME.err, the truth in NAME.truth.
run() {
    local seed=$1 name=$2 status=0
    shift 2
    rm -f "$name.truth"
    SOFTGPU_TRUTH=$scratch/$name.truth timeout "$patience" "$@" >"$name.out" 2>"$name.err" || status=$?
    [ $status -ne 124 ] || broken "$seed" "$name: no end after $patience s"
    [ $status -eq 0 ] || broken "$seed" "$name: ended with status $status"
}

# compare SEED: the trace is what the device executed. Packets that are in flight at the end of the program or of
# their queue may be missing, for this reason alone.
compare() {
    local status=0 other=0
    "$rtl" check --truth traced.truth t.db >check.out 2>check.err || status=$?
    [ $status -ne 0 ] || return 0
    ! grep -q 'drained' alone.out || broken "$1" "rtl check --truth ended with status $status"
    other=$(grep '^  lost ' check.out | grep -v -c '(shutdown)') || true
    [ "$other" = 0 ] || broken "$1" "kernels were lost that were not in flight at the end"
    grep -q '^truth: equal' check.out || broken "$1" "the trace is not what the device executed"
}

# The everyday run takes one of seven, where there are many: whatever a seed decides on by a remainder differs among these.
stride=1
[ -z "${RTL_TEST_BRIEF:-}" ] || ((${seeds#*..} - ${seeds%..*} < 10)) || stride=7
for ((seed = ${seeds%..*}; seed <= ${seeds#*..}; seed += stride)); do
    device "$seed"
    program=("$bin/aql_random" --seed "$seed" --packets "$packets" "${options[@]}")
    LD_PRELOAD=$soft run "$seed" alone "${program[@]}"
    rm -f t.db alone.truth
    run "$seed" traced env ${E2E_TOOLS:+"HSA_TOOLS_LIB=$E2E_TOOLS"} "$rtl" trace -q -m full --gpu soft -o t.db -- "${program[@]}"
    cmp -s alone.out traced.out || broken "$seed" "the outcome differs"
    # The runtime tells of the signals that its own intercept queues, or the model's, keep at the end.
    if [ "$way" = intercept ] || [ -n "${E2E_TOOLS:-}" ]; then
        sed -i '/Resource leak detected by SharedSignalPool/d' traced.err
    fi
    without_remarks alone.err traced.err
    cmp -s alone.err traced.err || broken "$seed" "something else is said on stderr"
    [ "$(ask t.db 'SELECT DISTINCT way FROM queues')" = "$way" ] || broken "$seed" "another way into the queues was taken"
    compare "$seed"
    kernels=$((kernels + $(ask t.db 'SELECT count(*) FROM kernels')))
    rm -f t.db traced.truth
done
echo "$kernels kernels of random programs, seeds $seeds: all right"
