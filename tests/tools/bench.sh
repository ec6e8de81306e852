#!/usr/bin/env bash
# rtl bench end to end on the software GPU, small: the verdicts of tools whose outcome is planted, statuses, sentences. No time is
# asserted but one that a sleep makes sure of.
source "$(dirname "$0")/lib.sh"
work=$build/bin/rtl-bench-work
unset SOFTGPU_PLUGINS SOFTGPU_TRUTH RTL_QUEUE

# wrong STATUS PATTERN... -- OPTION...: rtl bench ends with the status, prints nothing, and says one line that matches all patterns.
wrong() {
    local wanted=$1 patterns=() pattern status=0
    shift
    while [ "$1" != -- ]; do
        patterns+=("$1")
        shift
    done
    shift
    "$rtl" bench "$@" >wrong.out 2>wrong.err || status=$?
    equal "status of 'rtl bench $*'" "$status" "$wanted"
    [ ! -s wrong.out ] || fail "'rtl bench $*' wrote to stdout"
    equal "lines of 'rtl bench $*'" "$(wc -l <wrong.err)" 1
    for pattern in "${patterns[@]}"; do
        grep -q -F -e "$pattern" wrong.err || fail "the sentence of 'rtl bench $*' does not say '$pattern'"
    done
}

# bench STATUS OPTION...: measures, with JSON in bench.out.
bench() {
    local wanted=$1 status=0
    shift
    "$rtl" bench -q -j --gpu soft "$@" >bench.out 2>bench.err || status=$?
    equal "status of 'rtl bench $*'" "$status" "$wanted"
}

# of TOOL EXPRESSION: of the first workload, in Python, with `tool`, `workload` and `result`.
of() {
    python3 - "$1" "$2" <<'END'
import json, sys
result = json.load(open("bench.out"))
workload = result["workloads"][0]
tool = {t["tool"]: t for t in workload["tools"]}[sys.argv[1]]
print(eval(sys.argv[2]))
END
}

# Mistakes.
wrong 2 "'fast'" "lite, standard, hip or full" -- --gpu soft -t fast
wrong 2 "'other'" "{program}" -- --gpu soft -t 'name=other,command=prof'
wrong 2 "'full'" "two tools" -- --gpu soft -t full -t full
wrong 2 "'idle'" "eager" -- --gpu soft -w eager,idle
wrong 2 "'eager'" "twice" -- --gpu soft -w eager,eager
wrong 2 "'speed'" "overhead" -- --gpu soft --gate speed=3
wrong 2 "'x'" "overhead=3%" -- --gpu soft --gate overhead=x
wrong 2 "'0'" "--rounds" -- --gpu soft -r 0
wrong 2 "'many'" "--kernels" -- --gpu soft -k many
wrong 2 "'0'" "--kernels" -- --gpu soft -k 0
wrong 2 "--workload" "eager" -- --gpu soft -w ''
wrong 2 "none" "always" -- --gpu soft -t none
wrong 2 "'soon'" "--limit" -- --gpu soft --limit soon
wrong 2 "'hard'" "auto, soft or real" -- --gpu hard
wrong 2 "no-such" -- --gpu soft -- no-such
wrong 2 "--workload" "'true'" -- --gpu soft -w eager -- true
wrong 2 "without a tool" "status 3" "some reason" -- -q --gpu soft -t full -- sh -c 'echo some reason >&2; exit 3'
wrong 2 "nowhere/x.html" -- -q --gpu soft -t 'name=env,env=A=B' --html nowhere/x.html -- touch measured
wrong 2 "'$PWD' could not be written" -- -q --gpu soft -t 'name=env,env=A=B' --html "$PWD" -- touch measured
[ ! -e measured ] || fail "it is measured before it is known that the page cannot be written"
if [ ! -e /dev/kfd ]; then
    wrong 2 "/dev/kfd" "--gpu soft" -- -t full -- true
fi
mkdir -p lone/bin lone/lib
cp "$rtl" lone/bin/rtl
rtl=lone/bin/rtl wrong 2 "software GPU" -- --gpu soft
ln -s "$build/lib/softgpu" lone/lib/softgpu
rtl=lone/bin/rtl wrong 2 "rtl-bench-work" -- --gpu soft

# Each workload, in full mode: the trace has what the device executed.
for workload in eager long streams graph-64 graph-512 graph-4096 copies threads decode; do
    bench 0 -w $workload -t full -r 1 -k 100 --gate lost=0,skipped=0
    # Kernels that it submitted, by its own count, are among those that were executed; copies may take kernels of their own.
    LD_LIBRARY_PATH=$build/lib/softgpu SOFTGPU_PLUGINS=$build/lib/softgpu/bench_plugin.so "$work" $workload 100 >work.out
    submitted=$(sed -n 's/^rtl-bench-work: kernels=\([0-9]*\) .*/\1/p' work.out)
    [ "$(of full 'workload["kernels"]')" -ge "$submitted" ] || fail "$workload: the device executed less than the $submitted submitted"
    case $workload in
    copies | decode) ;;
    *) equal "kernels of $workload" "$(of full 'tool["completeness"]["expected"]')" "$submitted" ;;
    esac
    equal "$workload" "$(of full 'tool["completeness"]["recorded"] == workload["kernels"] and tool["bytes_per_kernel"]["median"] > 0')" True
    # So are its copies; the runtime's own are no tool's.
    copies=$(sed -n 's/^rtl-bench-work: .* copies=\([0-9]*\) .*/\1/p' work.out)
    equal "copies of $workload" "$(of full "[tool['completeness']['copies'][k] for k in ('expected', 'recorded', 'lost', 'wrong')]")" \
        "[$copies, $copies, 0, 0]"
    equal "who says so" "$(of full 'tool["completeness"]["against"] + " " + result["gpu"]')" "truth software"
done

# What tools are told to have done. 101 kernels: one to warm up.
planted=(
    -t 'name=exact,command={program},count=echo 101'
    -t 'name=loses,command=echo x >{out}; {program},count=echo 91'
    -t 'name=invents,command={program},count=echo 102'
    -t 'name=blind,command={program}'
    -t 'name=crashes,command={program}; echo last words >&2; kill -SEGV $$'
    -t 'name=fails,command={program}; exit 7'
    -t 'name=swallows,command={program} >/dev/null'
    -t 'name=babbles,command=head -c 3000 /dev/urandom; {program}; head -c 3000 /dev/urandom,count=echo 101'
    -t 'name=nonsense,command={program},count=echo about 101'
    -t 'name=uncountable,command={program},count=exit 1'
    -t 'name=liar,command=echo "rtl-bench-work: kernels=101 copies=0 begin_ns=1 end_ns=2 peak_kib=1 gpu=x"; : {program}'
    -t 'name=env,env=PLANTED={out}/e,command=test -n "$PLANTED" && {program}'
)
bench 1 -w eager -k 100 -r 2 "${planted[@]}"
equal "exact" "$(of exact 'tool["completeness"]["lost"] + tool["completeness"]["wrong"]')" 0
equal "loses" "$(of loses 'tool["completeness"]["lost"]')" 10
equal "bytes of what it wrote" "$(of loses 'round(tool["bytes_per_kernel"]["median"] * 91)')" 2
equal "invents" "$(of invents 'tool["completeness"]["wrong"]')" 1
equal "blind" "$(of blind '(tool["outcome"], tool["completeness"])')" "('fine', None)"
equal "crashes" "$(of crashes '(tool["outcome"], tool["problem"], tool["fine_runs"])')" "('died', 'died of signal 11: last words', 0)"
equal "fails" "$(of fails '(tool["outcome"], "status 7" in tool["problem"])')" "('failed', True)"
equal "swallows" "$(of swallows 'tool["outcome"]')" "no result"
equal "babbles" "$(of babbles '(tool["outcome"], tool["completeness"]["recorded"])')" "('fine', 101)"
equal "nonsense" "$(of nonsense '(tool["outcome"], "no number" in tool["problem"])')" "('not countable', True)"
equal "uncountable" "$(of uncountable '(tool["outcome"], "failed" in tool["problem"])')" "('not countable', True)"
equal "liar" "$(of liar 'tool["outcome"]')" "no result"
equal "env" "$(of env 'tool["outcome"]')" fine
grep -q '^rtl: ' bench.err || fail "a failed tool is not told of"
equal "runs" "$(of exact 'len(tool["runs"])')" 2

# RTL itself, as another profiler would be given, and by the environment alone: there its collector outlives the program.
bench 0 -w graph-64 -k 128 -r 2 --gate lost=0 \
    -t "name=itself,command='$rtl' trace -q --gpu soft -o {out} -- {program},count='$rtl' sql {out} 'SELECT count(*) FROM kernels'" \
    -t "name=bare,env=HSA_TOOLS_LIB=$build/lib/librtl.so,env=RTL_MODE=full,env=RTL_OUTPUT={out},count='$rtl' sql {out} 'SELECT count(*) FROM kernels'"
equal "itself" "$(of itself 'tool["completeness"]["recorded"]')" 193
equal "bare" "$(of bare '(tool["completeness"]["recorded"], tool["bytes_per_kernel"]["median"] > 0)')" "(193, True)"

# What a tool leaves behind is waited for, and killed in the end.
bench 0 -r 1 -t 'name=late,command={program}; setsid sh -c "sleep 1; echo 0 >{out}" & ,count=cat {out}' -- true
equal "late" "$(of late '(tool["outcome"], tool["runs"][0]["bytes"])')" "('fine', 2)"
bench 0 -r 1 -t 'name=stays,command={program}; setsid sleep 654 & echo $! >left' -- true
! kill -0 "$(cat left)" 2>/dev/null || fail "a process is left behind"

# A program of one's own, and a tool that is slower by more than any machine is.
bench 1 -r 2 -t 'name=slow,command={program}; sleep 2' --gate overhead=50% -- sh -c 'sleep 0.2'
equal "slow" "$(of slow 'tool["overhead"]["low"] > 0')" True
grep -q 'slow on .*overhead' bench.err || fail "the gate does not say why"
bench 0 -r 2 -t 'name=slow,command={program}; sleep 2' --gate overhead=100000% -- sh -c 'sleep 0.2'
bench 1 -r 1 -t 'name=hangs,command={program}; sleep 600' --limit 10s -- true
equal "hangs" "$(of hangs 'tool["outcome"]')" hung
bench 0 -r 1 -t full -t lite --gate lost=0 -- "$work" graph-64 128
equal "a program's kernels" "$(of full '(tool["completeness"]["recorded"], tool["completeness"]["lost"])')" "(193, 0)"

# Gates.
bench 1 -w eager -k 100 -r 1 -t 'name=blind,command={program}' --gate lost=0
grep -q 'blind on eager: .*not known' bench.err || fail "a gate on what is not known is kept"
bench 1 -w eager -k 100 -r 1 -t full --gate bytes=0.001
grep -q 'full on eager: .*bytes per kernel' bench.err || fail "the gate on bytes does not say why"

# Text and page.
"$rtl" bench -q --gpu soft -w eager -k 100 -r 1 -t full -t 'name=<b>x</b>,command={program}' --html page.html >text.out 2>text.err ||
    fail "text and page"
status=0
"$rtl" bench -q --gpu soft -r 1 -t 'name=env,env=A=B' --html /dev/full -- true >full.out 2>full.err || status=$?
equal "status without room for the page" $status 2
grep -q "'/dev/full' could not be written" full.err || fail "it is not told that the page has no room"
grep -q '^true: ' full.out || fail "what was measured is lost with the page"
grep -q '^software GPU' text.out || fail "the text does not say which GPU"
grep -q 'all 101' text.out || fail "the text does not say that nothing is lost"
grep -q '&lt;b&gt;x' page.html || fail "the page does not have the tool's name"
! grep -q '<b>' page.html || fail "a name is markup in the page"
python3 - <<'END' || fail "the page's pictures are not well-formed"
import re, xml.dom.minidom
pictures = re.findall(r"<svg.*?</svg>", open("page.html").read(), re.S)
assert len(pictures) == 1
xml.dom.minidom.parseString(pictures[0])
END

# Nothing is left behind, not even when it is told to end.
mkdir temporary
export TMPDIR=$scratch/temporary
"$rtl" bench -q --gpu soft -r 1 -t 'name=long,command={program}; touch started; sleep 600' -- true >ends.out 2>ends.err &
pid=$!
within 60 test -e started || fail "the run did not start"
kill -TERM $pid
status=0
wait $pid || status=$?
equal "status after SIGTERM" $status 143
[ -z "$(ls -A temporary)" ] || fail "something is left in the temporary folder"

# The workloads' temporary files lie in memory, unless TMPDIR says where; those of a program where it has them.
where=("name=where,command=echo \"\$TMPDIR\" >>$scratch/where; {program}")
unset TMPDIR
bench 0 -w eager -k 100 -r 1 -t "${where[@]}"
TMPDIR=$scratch bench 0 -w eager -k 100 -r 1 -t "${where[@]}"
bench 0 -r 1 -t "${where[@]}" -- true
equal "TMPDIR" "$(tr '\n' ';' <where)" "/dev/shm;$scratch;;"
