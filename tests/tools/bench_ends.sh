#!/usr/bin/env bash
# rtl bench: what tools leave behind, slow and hanging ones, gates, the page, signals and temporary files.
source "$(dirname "$0")/bench_lib.sh"

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
