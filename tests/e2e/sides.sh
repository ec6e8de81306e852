#!/usr/bin/env bash
# sides.sh BUILD WAY: kernels that RTL sees from the side only: on queues it was not asked for, published past the
# runtime, rung for past librtl.so, submitted while recording was stopped. Each is counted, named, and the rest is recorded as ever.
source "$(dirname "$0")/lib.sh"
sort=$1
export SOFTGPU_DURATION=1000 SOFTGPU_TRUTH=$scratch/truth LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# record EXPECTED_CHECK [ARGUMENTS...]: the status of rtl check, or any, which is left in `status`.
record() {
    local expected=$1
    status=0
    shift
    rm -f truth t.db
    "$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/sides" "$@" >run.out 2>run.err ||
        fail "the program ended with status $?"
    # It leaves its queue behind, and ROCr says so.
    [[ $sort != @(leave|gone) ]] || sed -i '/Resource leak detected by SharedSignalPool/d' run.err
    nothing_said run.err
    kernels=$(sed -n 's/^kernels //p' run.out)
    "$rtl" check --truth truth t.db >check.out 2>check.err || status=$?
    [ "$expected" = any ] || equal "status of rtl check" "$status" "$expected"
}

# lost REASON: how many kernels the ledger says were lost so.
lost() {
    ask t.db "SELECT coalesce(sum(lost), 0) FROM ledger WHERE reason = '$1'"
}

# How many packets the device took without the doorbell that librtl.so sees.
direct() {
    ask t.db "SELECT coalesce(sum(packets), 0) FROM ledger_opaque WHERE what = 'direct'"
}

recorded() {
    ask t.db 'SELECT count(*) FROM kernels'
}

case $sort in
stranger)
    export HSA_TOOLS_LIB=$build/tests/lib/meddler.so
    record 0 stranger "$HSA_TOOLS_LIB"
    equal "kernels in the trace" "$(recorded)" 50
    equal "way" "$(ask t.db 'SELECT DISTINCT way FROM queues')" interpose
    # It cannot become an intercept queue.
    RTL_QUEUE=intercept record 1 stranger "$HSA_TOOLS_LIB"
    equal "kernels in the trace" "$(recorded)" 0
    # The device may have taken the barrier that drains the queue before it was looked at.
    [[ $(lost not_followed) -ge $kernels && $(lost not_followed) -le $((kernels + 1)) ]] ||
        fail "the ledger has $(lost not_followed) kernels not followed, $kernels were dispatched"
    equal "way" "$(ask t.db 'SELECT DISTINCT way FROM queues')" pass
    grep -q 'note: this queue is not followed' check.out || fail "rtl check does not name the queue"
    ;;
bypass)
    record 1 bypass
    equal "kernels in the trace" "$(recorded)" 100
    # Packets that went past the runtime count as kernels: ten and a barrier, twice.
    equal "not followed" "$(lost not_followed)" 22
    grep -q 'note: a producer moves this queue' check.out || fail "rtl check does not name the producer"
    ;;
index)
    record 1 index
    equal "kernels in the trace" "$(recorded)" 50
    equal "not followed" "$(lost not_followed)" 20
    grep -q 'note: a producer moves this queue' check.out || fail "rtl check does not name the producer"
    # The same on a queue that RTL has not seen being made: known by the doorbell, or by none until the runtime is asked.
    export HSA_TOOLS_LIB=$build/tests/lib/rocm10.so MODEL_HIDE=1
    for by in "" register; do
        record 1 index $by
        equal "kernels in the trace" "$(recorded)" 50
        equal "not followed, of a queue that was not seen${by:+, by $by}" "$(lost not_followed)" 20
        grep -q ', 70 executed, 50 in the trace, 50 of them equal$' check.out || fail "the truth is another"
        grep -q '^  lost, as the ledger says: 20$' check.out || fail "truth and ledger differ"
    done
    grep -q 'note: 20 packets were submitted to this queue before RTL saw it' check.out || fail "rtl check does not tell of them"
    RTL_START=off record any index
    equal "kernels lost while recording is stopped" "$(lost not_followed)" 0
    equal "kernels left out" "$(ask t.db 'SELECT sum(stopped) FROM (SELECT DISTINCT process, queue, stopped FROM ledger)')" 70
    ;;
register)
    record 1 register
    # The worker may come by between a packet and its ring.
    [[ $(lost not_followed) -gt 0 && $(lost not_followed) -le 50 ]] ||
        fail "the ledger has $(lost not_followed) kernels not followed, 50 were rung for past the library"
    # It may find a packet that the device is just completing: the times that are there may be this packet's or those before
    # it. Or one that the device has read and not yet told of: the signal that librtl.so puts into it comes too late.
    late=$(($(lost no_time) + $(lost shutdown)))
    [[ $late -le 5 ]] || fail "the ledger has $late kernels without times, or not finished"
    equal "kernels in the trace" "$(recorded)" $((kernels - $(lost not_followed) - late))
    grep -q 'lost, as the ledger says' check.out || fail "truth and ledger differ"
    grep -q 'note: a producer .* rings its doorbell' check.out || fail "rtl check does not name the producer"
    equal "packets past the doorbell" "$(direct)" "$(lost not_followed)"
    grep -q 'what to do: set DEBUG_CLR_DIRECT_DOORBELL=0 ' check.out || fail "rtl check does not name HIP's setting"
    ;;
leave)
    # The worker may come by in time for some, or for all.
    for ((run = 0; run < 40; run++)); do
        record any leave
        equal "kernels in the trace and lost" $(($(recorded) + $(lost not_followed) + $(lost no_time) + $(lost shutdown))) "$kernels"
        equal "packets past the doorbell" "$(direct)" "$(lost not_followed)"
        equal "status of rtl check" "$status" $(($(recorded) < kernels))
        [ "$(direct)" = 0 ] || break
    done
    [ "$(direct)" -gt 0 ] || fail "no packet was taken past the doorbell in $run runs"
    ;;
gone)
    for how in return shut-down _exit; do
        [ "$how" != _exit ] || [ -z "${E2E_SANITIZER:-}" ] || continue # librtl.so is not preloaded there
        record 1 gone $how
        equal "kernels in the trace, by $how" "$(recorded)" 50
        # Ten and a barrier.
        equal "not followed, by $how" "$(lost not_followed)" 11
    done
    ;;
stop)
    record 0 stop
    equal "kernels in the trace" "$(recorded)" "$(sed -n 's/^recorded //p' run.out)"
    grep -q 'note: recording was stopped' check.out || fail "rtl check does not tell of the stop"
    RTL_START=off record 0 stop
    equal "kernels in the trace" "$(recorded)" "$(sed -n 's/^recorded //p' run.out)"
    ;;
cut)
    record 0 cut
    equal "kernels in the trace" "$(recorded)" 540
    equal "graphs: nodes, launches" "$(ask t.db 'SELECT g.nodes, (SELECT count(*) FROM graph_launches l WHERE l.graph = g.graph AND l.kernels = 12) FROM graphs g')" \
        "12|40"
    equal "launches" "$(ask t.db 'SELECT count(*) FROM graph_launches')" 40
    equal "kernels of no launch" "$(ask t.db 'SELECT count(*) FROM kernels WHERE launch IS NULL')" 60
    ;;
flicker)
    record 0 flicker
    equal "kernels seen" "$(ask t.db 'SELECT sum(seen) FROM (SELECT DISTINCT process, queue, seen FROM ledger)')" "$kernels"
    ;;
esac
