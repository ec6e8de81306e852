#!/usr/bin/env bash
# selftest.sh BUILD plain|planted|altered|profiled|usage: rtl doctor --selftest on the software GPU. It is right where nothing is wrong; and red,
# in the recording and the aspect that it should be, where a fault is planted: in what the program says that it did, in what it does
# (planted), or in the trace, between the recording and the comparison (altered).
source "$(dirname "$0")/lib.sh"
unset SOFTGPU_PLUGINS RTL_QUEUE
part=$1
work=$build/bin/rtl-selftest-work

# selftest STATUS [OPTION...]: with the report in report.json.
selftest() {
    local wanted=$1 status=0
    shift
    "$rtl" doctor --selftest --gpu soft -o report.json "$@" >selftest.out 2>selftest.err || status=$?
    [ "$status" = "$wanted" ] || fail "rtl doctor --selftest ended with status $status, want $wanted; red is: $(all_red)"
}

# Every comparison that is red.
all_red() {
    [ ! -s report.json ] || python3 -c 'import json
for r in json.load(open("report.json"))["recordings"]:
    for c in r["checks"]:
        if not c["right"]: print(r["mode"], r["queue"], c)' 2>&1
}

# of EXPRESSION: of the report, in Python, with `report` and red(mode, way).
of() {
    python3 - "$1" <<'END'
import json, sys
report = json.load(open("report.json"))
recordings = {(r["mode"], r["queue"]): r for r in report["recordings"]}
def checks(mode, way):
    return recordings[mode, way]["checks"]
def red(mode, way):
    return " ".join(sorted({c["aspect"] for c in checks(mode, way) if not c["right"]}))
print(eval(sys.argv[1]))
END
}

# In a place of its own, where parts can be replaced.
move_in() {
    mkdir -p place/bin place/lib/softgpu
    cp "$build/bin/rtl" place/bin/
    ln -s "$build"/lib/*.so* "$build"/lib/*.co place/lib/ 2>/dev/null || true
    ln -s "$build"/lib/softgpu/* place/lib/softgpu/
    ln -s "$work" place/bin/rtl-selftest-work
    rtl=$scratch/place/bin/rtl
}

# The same with a program that does nothing, where what is recorded plays no part.
move_in_idle() {
    move_in
    rm place/bin/rtl-selftest-work
    printf '#!/bin/sh\necho end >"$1"\n' >place/bin/rtl-selftest-work
    chmod +x place/bin/rtl-selftest-work
}

# Each recording has its own fault: fault MODE WAY ASPECTS CODE. CODE is run before or after the program (by its first word), with the
# file of what it knows in $1; ASPECTS are those that become red.
faults=()
fault() {
    faults+=("$1 $2 $3")
    export "FAULT_$1_$2=$4"
}

# Those that are planted are red, and no other.
judge() {
    local fault mode way aspects
    selftest 1
    for fault in "${faults[@]}"; do
        read -r mode way aspects <<<"$fault"
        equal "what is red of $mode, $way" "$(of "red('$mode', '$way')")" "$aspects"
        unset "FAULT_${mode}_$way"
    done
    equal "recordings that are red" "$(of "sum(r['state'] == 'red' for r in report['recordings'])")" "${#faults[@]}"
    equal "the count of what is red" "$(of "report['red'] == sum(not c['right'] for r in report['recordings'] for c in r['checks'])")" True
    grep -q '^RED: ' selftest.out || fail "nothing says that it is red"
    faults=()
}

plain() {
    local refused=0
    [ "$intercept_generation" = G1 ] || refused=1
    selftest 0
    equal "verdict" "$(of "report['right']")" True
    grep -q '^right: all ' selftest.out || fail "nothing says that it is right"
    equal "recordings" "$(of "len([r for r in report['recordings'] if r['mode']])")" 8
    equal "of which refused" "$(of "len([r for r in report['recordings'] if r['state'] == 'refused'])")" "$refused"
    [ "$refused" = 0 ] || grep -q 'refused in mode full: .*0001-intercept' selftest.out || fail "the refusal is not shown"
    # What the trace has is more than nothing, in each aspect.
    equal "aspects of full mode" "$(of "len({c['aspect'] for c in checks('full', 'interpose')})")" 11
    equal "the GPU" "$(of "report['gpu']")" "RTL software GPU (gfx906)"
    equal "the runtime" "$(of "report['runtime']['rocr'].rsplit('.so.', 1)[1].split('.')[1]")" "$rocr"
    equal "tables" "$(of "report['runtime']['core_table']['bytes'] > 900 and report['runtime']['ext_table']['bytes'] > 300")" True
    equal "queues" "$(of "all(r['queues']['followed'] > 1 and r['queues']['passed_through'] == 0
                               for r in report['recordings'] if r['mode'] and r['state'] != 'refused')")" True
    equal "what the machine has" "$(of "any(f['topic'] == 'runtime' for f in report['machine']['findings'])")" True
    nothing_said selftest.err
}

planted() {
    move_in
    rm place/bin/rtl-selftest-work
    cat >place/bin/rtl-selftest-work <<END
#!/usr/bin/env bash
fault=FAULT_\${RTL_MODE:-none}_\${RTL_QUEUE:-none}
fault=\${!fault:-}
[ "\${fault%% *}" != before ] || eval "\${fault#* }"
"$work" "\$@"
status=\$?
[ "\${fault%% *}" != after ] || eval "\${fault#* }"
exit "\$status"
END
    chmod +x place/bin/rtl-selftest-work

    # One kernel more than there was; as much as the mode may leave out, but nothing was left out.
    fault full interpose "calls kernels" 'after sed -i "s/^kernel rtl_selftest_order_b 72 /kernel rtl_selftest_order_b 73 /" "$1"'
    # One less.
    fault hip interpose "calls kernels" 'after sed -i "s/^kernel rtl_selftest_order_b 72 /kernel rtl_selftest_order_b 71 /" "$1"'
    fault standard interpose "results" 'after sed -i "s/^result graph ....\(.*\) \(.*\)/result graph 0000\1 \2/" "$1"'
    fault lite interpose "account names" 'after sed -i "s/^kernel rtl_selftest_warm /kernel rtl_selftest_cold /" "$1"'
    fault standard intercept "order" 'after sed -i "s/^order caa/order aca/" "$1"'
    fault lite intercept "events" 'after sed -i "/^event/s/ \([0-9]*\) 3/ 1\1 3/" "$1"'
    fault hip intercept "copies" 'after sed -i "/^copy h2d 1048576/s/8$/9/" "$1"'
    [ "$intercept_generation" != G1 ] ||
        fault full intercept "graphs" 'after sed -i "/^graph 3 2 /s/ 50 / 51 /" "$1"'
    judge
    grep -q 'full, interpose: kernels: rtl_selftest_order_b: expected 73, seen 72' selftest.out || fail "expected and seen are not told"

    fault full interpose "graphs" 'after sed -i "/^graph 2 /s/12$/11/" "$1"'
    fault hip interpose "calls" 'after sed -i "/^call hipGraphLaunch/s/ [0-9]*$/ 7/" "$1"'
    fault standard interpose "events" 'after sed -i "/^event/s/ [0-9]\([0-9]*\) 3/ \1 3/" "$1"'
    fault lite interpose "ran" 'after status=3'
    fault standard intercept "account ran" 'before kill -SEGV $$'
    fault lite intercept "ran" 'after sed -i "/^end/d" "$1"'
    fault hip intercept "streams" 'after sed -i "/^streams/s/4/5/" "$1"'
    judge

    # What the program does, or what is done to it.
    fault full interpose "results" "before export SOFTGPU_PLUGINS=$build/tests/lib/selftest_wrong.so:\$SOFTGPU_PLUGINS"
    fault hip interpose "streams" 'after sed -i "/^threads/s/4/3/" "$1"'
    fault lite intercept "account" 'before export RTL_QUEUE=interpose'
    judge
}

altered() {
    move_in
    cat >between <<'END'
#!/usr/bin/env bash
status=0
"$@" || status=$?
while [ "$1" != -o ]; do
    [ "$1" != -m ] || mode=$2
    shift
done
fault=FAULT_${mode}_$RTL_QUEUE
[ -z "${!fault:-}" ] || python3 -c 'import sqlite3, sys
trace = sqlite3.connect(sys.argv[1])
trace.executescript(sys.argv[2])
trace.commit()' "$2" "${!fault}"
exit "$status"
END
    chmod +x between
    SELFTEST_BETWEEN=$scratch/between
    export SELFTEST_BETWEEN
    rtl_alone=$rtl
    rtl() { LD_PRELOAD=$build/tests/lib/selftest_between.so "$rtl_alone" "$@"; }
    rtl=rtl

    fault full interpose "kernels names" "UPDATE symbols SET name = 'rtl_selftest_strange' WHERE name = 'rtl_selftest_copy'"
    fault hip interpose "account kernels order" "UPDATE symbols SET name = CASE name WHEN 'rtl_selftest_order_a'
        THEN 'rtl_selftest_order_b' ELSE 'rtl_selftest_order_a' END WHERE name IN ('rtl_selftest_order_a', 'rtl_selftest_order_b')"
    # A clock that is 3 % too fast.
    fault standard interpose "events" "UPDATE clock_points SET system = system +
        (system - (SELECT min(system) FROM clock_points)) * 3 / 100"
    fault lite interpose "account" "UPDATE queues SET way = 'pass' WHERE queue = 0"
    fault standard intercept "account" "UPDATE ledger_rows SET seen = seen + 1 WHERE queue = 0"
    fault hip intercept "account copies" "DELETE FROM copies WHERE bytes > 1000000"
    fault lite intercept "account" "UPDATE meta SET value = 0 WHERE key = 'finished'"
    judge

    fault full interpose "account graphs" 'DELETE FROM launch_chunks'
    fault hip interpose "account calls copies streams" "DELETE FROM api_chunks"
    fault standard interpose "account events kernels order" "DELETE FROM kernel_chunks"
    fault lite intercept "account" 'DELETE FROM kernel_chunks'
    judge
}

# A rocprofv3 that misses one kernel of those that it is told of: its counts are in the report, without a verdict.
profiled() {
    mkdir bin
    cat >bin/rocprofv3 <<END
#!/usr/bin/env bash
folder=
while [ "\$1" != -- ]; do
    [ "\$1" != -d ] || folder=\$2
    shift
done
mkdir -p "\$folder/host"
"$rtl" trace -q -f -m full --gpu soft -o "\$folder/t.db" "\$@" || exit
{
    echo '"Kind","Agent_Id","Queue_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"'
    "$rtl" sql "\$folder/t.db" "SELECT '\"KERNEL_DISPATCH\",\"Agent 1\",' || queue || ',\"' || name || '\",0,' || start || ',' || end
        FROM kernels WHERE name <> 'rtl_selftest_warm'"
} >"\$folder/host/17_kernel_trace.csv"
END
    chmod +x bin/rocprofv3
    PATH=$scratch/bin:$PATH
    selftest 0
    equal "kernels that rocprofv3 has otherwise" \
        "$(of "[(n, k['expected'], k['seen']) for n, k in report['rocprofv3']['kernels'].items() if k['expected'] != k['seen']]")" \
        "[('rtl_selftest_warm', 1, 0)]"
    equal "kernels that rocprofv3 is asked for" "$(of "len(report['rocprofv3']['kernels'])")" 24
    grep -q '^rocprofv3: .* of .* kernels' selftest.out || fail "rocprofv3 is not shown"

    printf '#!/bin/sh\necho "no such device" >&2\nexit 1\n' >bin/rocprofv3
    move_in_idle
    selftest 1
    grep -q '^rocprofv3: has written no kernel trace: no such device' selftest.out || fail "what rocprofv3 said is not shown"
}

# What is no report stays, and options that go together.
usage() {
    local status=0
    move_in_idle
    echo "of the user's" >report.json
    selftest 2
    equal "the user's file" "$(cat report.json)" "of the user's"
    "$rtl" doctor --gpu soft >usage.out 2>usage.err || status=$?
    equal "status without --selftest" "$status" 2
    grep -q -- '--gpu goes with --selftest' usage.err || fail "no sentence about --gpu"
    # The runtime takes more address space than it may have; it is not that there is no GPU.
    if [ -z "${E2E_SANITIZER:-}" ]; then
        status=0
        (ulimit -v 1048576 && exec "$rtl" doctor --selftest --gpu soft -o limit.json) >limit.out 2>limit.err || status=$?
        equal "status under a limit" "$status" 2
        grep -q '^rtl: there is no GPU to test with: .*libhsa-runtime64.*, under a limit of 1.0 GiB of address space (ulimit -v)$' limit.err ||
            fail "nothing names the limit"
    fi
    selftest 1 -f -j
    cmp report.json selftest.out || fail "the JSON on stdout is another"
    grep -q '"made_by": "rtl doctor --selftest"' report.json || fail "the user's file was not replaced"
    selftest 1
}

case $part in
plain | planted | altered | profiled | usage) ;;
*) fail "there is no part '$part'" ;;
esac
# HIP 6.4 crashes by itself in one run of a hundred or so, with a hardware queue for each stream (hip_graphs.sh), and a part has up to
# 27 of them: it is tried again there.
if [ "$rocr" = 15 ]; then
    export GPU_MAX_HW_QUEUES=40
    for try in 1 2; do
        ! ("$part") || exit 0
        rm -rf place bin between report.json
    done
fi
"$part"
