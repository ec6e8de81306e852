#!/usr/bin/env bash
# queues10.sh BUILD: queues that are made as ROCm 10 makes them (rocm10.c), with tables of several sizes. Each is followed from its
# first packet on, or passed through and named; what is in the trace is what the device executed.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_DURATION=1000

# record STATUS WAY [VARIABLE=VALUE...]: queues10 WAY, guarded where that is set, and what rtl check says of it.
guarded=
record() {
    local status=0 expected=$1 how=$2
    shift 2
    rm -f truth t.db
    env HSA_TOOLS_LIB="$lib/rocm10.so" LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$lib/rocm10.so" "$@" \
        "$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/queues10" "$how" $guarded >run.out 2>run.err || fail "queues10 $how $*: status $?"
    kernels=$(sed -n 's/^kernels //p' run.out)
    device=$(sed -n 's/^device //p' run.out)
    reads=$(sed -n 's/^reads //p' run.out)
    "$rtl" check --truth truth t.db >check.out 2>check.err || status=$?
    equal "queues10 $how $*: status of rtl check" "$status" "$expected"
}

# recorded KERNELS QUEUES WAY: what is in the trace.
recorded() {
    equal "$how: kernels" "$(ask t.db 'SELECT count(*) FROM kernels')" "$1"
    equal "$how: queues" "$(ask t.db "SELECT count(*) FROM queues WHERE way = '$3'")" "$2"
}

how=create
for table in 744 624 688 736 752 1000; do
    MODEL_TABLE=$table record 0 create
    recorded "$kernels" 2 interpose
done
for how in counted racing; do
    record 0 $how
    recorded "$kernels" "$([ $how = counted ] && echo 2 || echo 40)" interpose
done
how=early
record 0 early MODEL_EARLY=1
recorded 200 1 interpose

# Somebody has a packet in it that nobody saw: until it is idle.
how=busy
record 1 busy MODEL_EARLY=1
recorded 200 1 interpose
equal "busy: not followed" "$(ask t.db "SELECT sum(lost) FROM ledger WHERE reason = 'not_followed'")" 50
grep -q 'note: this queue was in use when RTL saw it first' check.out || fail "rtl check does not say why kernels are missing"
grep -q 'lost, as the ledger says: 50' check.out || fail "the ledger is wrong"

# A flag of a descriptor puts a ring into device memory. Without RTL it does; with it not, if the call goes through librtl.so, or
# the table is known.
how=device
env LD_PRELOAD="$soft:$lib/rocm10.so" HSA_TOOLS_LIB="$lib/rocm10.so" "$bin/queues10" device >alone.out || fail "alone: status $?"
grep -q '^device 2$' alone.out || fail "the model has no ring in device memory"
for table in 744 752; do
    [ "$table" = 744 ] || [ -z "${E2E_SANITIZER:-}" ] || continue # librtl.so is not preloaded under the sanitizers
    MODEL_TABLE=$table record 0 device
    recorded "$kernels" 2 interpose
    equal "device, $table: rings in device memory" "$device" 0
    grep -q 'note: the program asks for queues in device memory: RTL has them made in host memory' check.out || fail "nobody says so"
done
record 0 device RTL_PRELOAD=off
recorded "$kernels" 2 interpose
equal "by the table: rings in device memory" "$device" 0

# Where neither is so, and where the descriptor is of another version, the queues are passed through. No packet in the ring is read:
# of those there may be kernels all are counted.
guarded=guarded
for what in "device RTL_PRELOAD=off MODEL_TABLE=752" "unknown"; do
    read -r how settings <<<"$what"
    # shellcheck disable=SC2086 # a list of settings
    record 1 $how $settings
    equal "$what: kernels" "$(ask t.db 'SELECT count(*) FROM kernels')" 0
    equal "$what: reads of the ring" "$reads" 0
    [ "$device" -gt 0 ] || fail "$what: no ring in device memory"
    equal "$what: passed through" "$(ask t.db "SELECT count(*) FROM queues WHERE way = 'pass'")" "$device"
    lost=$(ask t.db "SELECT sum(lost) FROM ledger WHERE reason = 'not_followed'")
    equal "$what: may be kernels" "$lost" $((kernels + 5 * device)) # and five barriers each
    grep -q 'note: this queue is not followed: its ring is in device memory (DEBUG_CLR_AQL_DEV_QUEUE=0' check.out || fail "$what: no reason"
done
guarded=
grep -q 'note: the program makes queues by descriptors of version 9, which RTL does not know' check.out || fail "the version is not told"

# A queue that is followed is read: by the producer's thread, which counts it, or by the worker, which ends the program.
status=0
env HSA_TOOLS_LIB="$lib/rocm10.so" LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$lib/rocm10.so" "$rtl" trace -q -f -m full --gpu soft -o t.db -- \
    "$bin/queues10" create guarded >run.out 2>run.err || status=$?
[ "$status" = 139 ] || [ "$(sed -n 's/^reads //p' run.out)" -gt 0 ] || fail "nobody notices that a ring is read"

# Queues of others cannot be intercept queues.
how=create
record 1 create RTL_QUEUE=intercept
equal "intercept: passed through" "$(ask t.db "SELECT count(*) FROM queues WHERE way = 'pass'")" 2
grep -q 'RTL_QUEUE=intercept needs an intercept queue' check.out || fail "intercept: no reason"

# Nor can RTL put packets of its own into them: kernels are recorded, hardware counters are not read, and that is said. Where the
# runtime's intercept queue loses packets counters are refused before the program starts (e2e/refused.sh).
[ "$rocr" -lt 18 ] || exit 0
for counting in kernel range; do
    rm -f truth t.db
    env -u RTL_QUEUE MODEL_HIDE=1 HSA_TOOLS_LIB="$lib/rocm10.so" LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$lib/rocm10.so" \
        "$rtl" trace -q -m full --gpu soft --metrics waves --counting $counting -o t.db -- "$bin/queues10" create >run.out 2>run.err || fail "counters by $counting: status $?"
    grep -q '^rtl: hardware counters were not read everywhere: a queue on agent [0-9]* is not one that RTL can put packets into' run.err ||
        fail "counters by $counting: rtl trace says nothing"
    "$rtl" check --truth truth t.db >check.out 2>check.err || fail "counters by $counting: status $? of rtl check"
    recorded "$(sed -n 's/^kernels //p' run.out)" 2 interpose
    "$rtl" summary t.db >summary.out || fail "counters by $counting: status $? of rtl summary"
    grep -q 'not counted: 2 (' summary.out || fail "counters by $counting: rtl summary does not say that none was counted"
done
