#!/usr/bin/env bash
# faults.sh BUILD: where counters cannot be read, the trace says why in one sentence, has all kernels, and the program has run as
# it would have.
source "$(dirname "$0")/../../e2e/lib.sh"
skip_without_counters
unset RTL_QUEUE
export COUNT_EXPECTED=$scratch/expected

# record WHAT MODE SETTING...: traces `count nest` with the settings in its environment.
record() {
    what=$1 mode=$2
    shift 2
    rm -f t.db
    env RTL_COUNTING="$mode" "$@" "$rtl" trace -q --gpu soft -o t.db -- "$bin/count" nest >traced.out 2>traced.err ||
        fail "$what: the program ended with status $?"
    "$rtl" check t.db >check.out 2>&1 || fail "$what: rtl check ended with status $?"
    equal "$what: kernels in the trace" "$(ask t.db 'SELECT count(*) FROM kernels')" "$(grep -c ^kernel expected)"
}

# refused WHAT MODE PASSES SENTENCE SETTING...: nothing is counted, and the trace says why.
refused() {
    passes=$3 sentence=$4
    record "$1" "$2" "${@:5}"
    grep -q "note: .*$sentence" check.out || fail "$what: the trace does not say '$sentence'"
    equal "$what: way" "$(ask t.db "SELECT way FROM queues WHERE way <> 'copies' UNION SELECT way FROM processes" | wc -l)" 1
    equal "$what: passes" "$(ask t.db 'SELECT passes FROM counting')" "$passes"
    equal "$what: samples" "$(ask t.db 'SELECT (SELECT count(*) FROM kernel_counters) + (SELECT count(*) FROM range_counters)')" 0
}

for mode in kernel range; do
    refused "a library that is absent" $mode 0 'could not be loaded' RTL_METRICS=SQ_WAVES SOFTGPU_COUNTERS_FAULT=absent
    refused "an unknown name" $mode 0 "'SQ_WAVEZ' (near: SQ_WAVES" RTL_METRICS=kernels,SQ_WAVEZ
    refused "a counter of other devices" $mode 0 'gfx906 has no hardware counter GL2C_HIT' RTL_METRICS=SQ_WAVES,GL2C_HIT
    refused "an event that is not there" $mode 0 'TCC_MISS, of which l2_hit is made' RTL_METRICS=l2_hit SOFTGPU_COUNTERS_FAULT=invalid=TCC:22
    refused "no slots" $mode 1 'did not start them' RTL_METRICS=SQ_WAVES SOFTGPU_COUNTERS_FAULT=slots=0
    refused "a device that does not read" $mode 1 'did not start them' RTL_METRICS=SQ_WAVES SOFTGPU_COUNTERS_FAULT=hang=SQ
    refused "a pass that there is not" $mode 1 'RTL_PASS=7' RTL_METRICS=SQ_WAVES RTL_PASS=7
    refused "RTL_QUEUE=interpose" $mode 0 'leave RTL_QUEUE out' RTL_METRICS=SQ_WAVES RTL_QUEUE=interpose
done

# Metrics that need no counter change nothing.
record "no counter is needed" range RTL_METRICS=kernels,lane_use
equal "rows about counting" "$(ask t.db 'SELECT count(*) FROM counting')" 0
equal "the way into the queues" "$(ask t.db "SELECT way FROM queues WHERE way <> 'copies' UNION SELECT way FROM processes")" interpose

# Each of the passes reads its counters, and together they read all.
metrics=l2_hit,fetch_bytes,write_bytes,gpu_busy,GRBM_SPI_BUSY
for mode in kernel range; do
    for pass in 0 1; do
        record "pass $pass" $mode RTL_METRICS=$metrics RTL_PASS=$pass
        equal "passes" "$(ask t.db 'SELECT pass, passes FROM counting')" "$pass|2"
        ask t.db "SELECT DISTINCT name FROM ${mode}_counters" >>names.$mode
        equal "counters of pass $pass" "$(ask t.db "SELECT DISTINCT name FROM ${mode}_counters ORDER BY 1")" \
            "$(ask t.db "SELECT name FROM counters WHERE pass = $pass ORDER BY 1")"
    done
    equal "counters of all passes" "$(sort names.$mode)" "$(ask t.db 'SELECT name FROM counters ORDER BY 1')"
done

# A kernel that others wait for in vain does not keep them for ever: they go on, and nobody is counted meanwhile.
rm -f t.db
SOFTGPU_DURATION='storm_endless=4000000000,*=2000' RTL_METRICS=SQ_WAVES RTL_COUNTING=kernel \
    "$rtl" trace -q --gpu soft -o t.db -- "$bin/count" endless >traced.out 2>traced.err || fail "the program ended with status $?"
equal "kernels" "$(ask t.db 'SELECT count(*) FROM kernels')" 12
equal "not counted" "$(ask t.db 'SELECT why, count FROM uncounted')" 'device|11'
equal "counted" "$(ask t.db 'SELECT value FROM kernel_counters')" 6

# What is on its way when the program ends is told, and the end does not wait for it.
for mode in kernel range; do
    rm -f t.db
    SOFTGPU_DURATION='storm_endless=1000000000000,*=2000' RTL_METRICS=SQ_WAVES RTL_COUNTING=$mode \
        "$rtl" trace -q --gpu soft -o t.db -- timeout 20 "$bin/count" left >traced.out 2>traced.err || fail "the program ended with status $?"
    equal "not counted at the end, by mode $mode" "$(ask t.db 'SELECT why, count FROM uncounted')" \
        "$([ $mode = kernel ] && echo 'shutdown|3' || echo 'shutdown|2')"
done
