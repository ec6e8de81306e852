#!/usr/bin/env bash
# ranks.sh BUILD PLUGIN: who is the slowest rank of a job whose ranks wait for each other as planned, and how long the others
# wait, to the nanosecond: in one trace, in merged ones, of two hosts, and where one rank is recorded later.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_DEVICES=4

# job TRACE RANKS [LATE]: all ranks under one rtl trace.
job() {
    rm -f meeting
    "$rtl" trace -q -m full --gpu soft -o "$1" -- bash -c 'for rank in $(seq 0 $(($2 - 1))); do
            RANK=$rank HIP_VISIBLE_DEVICES=$rank "$1" $rank $2 meeting $3 & ranks+=($!); done
        for rank in "${ranks[@]}"; do wait $rank || exit 1; done' job "$bin/ranks" "${@:2}" >job.out 2>job.err ||
        fail "the job ended with status $?: $(cat job.err)"
    "$rtl" check "$1" >check.out || fail "the trace of the job is not complete: $(cat check.out)"
}
job four.db 4
job late.db 3 1

# Each rank for itself, in a trace that is named after it, and one trace of them.
rm -f meeting
for rank in 0 1 2; do
    OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=3 "$rtl" trace -q -m full --gpu soft -- "$bin/ranks" $rank 3 meeting >"apart-$rank.out" 2>&1 &
    ranks+=($!)
done
for rank in "${ranks[@]}"; do
    wait "$rank" || fail "a rank ended with status $?: $(cat apart-*.out)"
done
"$rtl" merge merged.db trace-0.db trace-1.db trace-2.db >merge.out || fail "the traces could not be merged"

# Beside them processes that are none of the ranks.
RANK=1 "$rtl" trace -q -m full --gpu soft -o beside.db -- "$bin/steps" stop >beside.out 2>&1 || fail "the program ended with status $?"
"$rtl" trace -q -m full --gpu soft -o without.db -- "$bin/steps" train >without.out 2>&1 || fail "the program ended with status $?"
"$rtl" merge other.db trace-0.db trace-1.db trace-2.db beside.db without.db >merge.out || fail "the traces could not be merged"

/usr/bin/python3 "$here/ranks.py" "$rtl" four.db late.db merged.db other.db || fail "the ranks are not those of the job"

# refused PATTERN COMMAND...: status 2, one sentence that says so.
refused() {
    local status=0
    "$rtl" "${@:2}" >refused.out 2>refused.err || status=$?
    equal "status of ${*:2}" $status 2
    equal "what ${*:2} says" "$(cat refused.err)" "rtl: $1"
}
refused "trace-0.db has steps of one rank alone: 'rtl merge' makes one trace of those of several" ranks trace-0.db
refused "four.db has no steps of two ranks in what the filters leave" ranks --rank 2 four.db
refused "four.db has no steps of two ranks in what the filters leave" ranks --from 1h four.db
refused "--by graph:1 is of one process: ranks have graphs of their own; launches is of any" ranks --by graph:1 four.db
refused "--by is auto, launches, kernels, graph:NUMBER or range:NAME, not 'token'" ranks --by token four.db
refused "--list goes with --json" ranks --list four.db
echo 'AllReduce = other' >rules
"$rtl" ranks --families rules four.db >none.out || fail "ranks without collectives are refused"
grep -q "no rank waits for another one in collectives" none.out || fail "it is not told: $(cat none.out)"
refused "four.db has no kernel of a collective: --by says what else makes a step" ranks --families rules --by collectives four.db
