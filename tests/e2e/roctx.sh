#!/usr/bin/env bash
# roctx.sh BUILD HOW PRELOAD [FOLDER]: a program with ranges gets the same from every function with and without RTL, however
# it comes to roctx (linked, or a library that it opens), and the trace has its ranges with what ran in them.
source "$(dirname "$0")/lib.sh"
how=$1
export RTL_PRELOAD=$2
export SOFTGPU_DURATION=1000
libraries=${3:-$build/lib/roctx}
case $how in
linked) program=("$bin/roctx_linked") ;;
*) program=("$bin/roctx_opened" "$libraries/$how") ;;
esac

LD_PRELOAD=$soft LD_LIBRARY_PATH=$libraries "${program[@]}" >plain.out 2>plain.err || fail "the program ended with status $?"
without_remarks plain.err
[ ! -s plain.err ] || fail "the program printed something on stderr"
SOFTGPU_TRUTH=truth LD_LIBRARY_PATH=$libraries "$rtl" trace -q -m full --gpu soft -o t.db -- "${program[@]}" >traced.out 2>traced.err ||
    fail "the program ended with status $? under rtl trace"
nothing_said traced.err
diff plain.out traced.out >differences.out || fail "the program got other results under rtl trace"
"$rtl" check --truth truth t.db >check.out 2>&1 || fail "rtl check ended with status $?"

# ranges CONDITION: how many there are.
ranges() {
    ask t.db "SELECT count(*) FROM ranges WHERE $1"
}

# kernels RANGE: how many ran in it, not in one within it.
kernels() {
    ask t.db "SELECT count(*) FROM kernels k JOIN ranges r ON r.process = k.process AND r.id = k.range WHERE r.name = '$1'"
}

equal "ranges" "$(ranges 1)" $((1 + 1 + 3 + 1000 + 1 + 1 + 2 + 1 + 4 + 4 + 2 + 1 + 3))
equal "the outermost" "$(ranges "name = 'early' AND depth = 0 AND parent IS NULL AND kind = 'push' AND end > start")" 1
equal "what was over before recording began" "$(ranges "name IN ('over before hsa_init', 'too early', 'paused', 'left out')")" 0
equal "started before recording began" "$(ranges "name = 'started early' AND kind = 'start' AND end > start")" 1
equal "nested" "$(ask t.db "SELECT b.depth FROM ranges a, ranges b, ranges e WHERE a.name = 'a' AND b.name = 'b' AND b.parent = a.id AND
    e.name = 'early' AND a.parent = e.id AND a.start <= b.start AND b.end <= a.end AND e.start <= a.start AND a.end <= e.end")" 2
equal "marks" "$(ask t.db "SELECT m.name, p.name FROM ranges m LEFT JOIN ranges p ON p.id = m.parent WHERE m.kind = 'mark' ORDER BY m.start" | xargs)" \
    "mark|b traced|early not traced|early"
equal "deep" "$(ask t.db "SELECT count(*), min(depth), max(depth), sum(end < start) FROM ranges WHERE name = 'deep'")" "1000|1|1000|0"
equal "a long text" "$(ranges "name = '$(printf 'x%.0s' {1..65535})'")" 1
equal "begun while recording was stopped" "$(ranges "name = 'across' AND end > start")" 1
equal "stopped by another thread" "$(ranges "name = 'stopped by a thread' AND kind = 'start' AND end > start")" 1
equal "open" "$(ranges "name IN ('open', 'left open') AND end IS NULL")" 5
equal "threads" "$(ask t.db "SELECT count(*) FROM ranges r JOIN threads t ON t.process = r.process AND t.thread = r.thread AND t.name = r.name
    WHERE r.name LIKE 'thread %' AND r.end > r.start")" 4
equal "the main thread" "$(ask t.db "SELECT t.name FROM ranges r JOIN threads t ON t.process = r.process AND t.thread = r.thread WHERE r.name = 'a'")" main

equal "kernels in early" "$(kernels early)" 2
equal "kernels in a" "$(kernels a)" 10
equal "kernels in b" "$(kernels b)" 5
equal "kernels in across" "$(kernels across)" 11
equal "kernels in half" "$(kernels half)" 8
equal "kernels in beside" "$(kernels beside)" 6
equal "kernels in open" "$(kernels open)" 4
for number in 0 1 2 3; do
    equal "kernels in thread $number" "$(kernels "thread $number")" $((10 + number))
done
equal "kernels in none" "$(ask t.db 'SELECT count(*) FROM kernels WHERE range IS NULL')" 1
equal "who stopped recording" "$(ask t.db "SELECT group_concat(DISTINCT why) FROM pauses")" roctx
equal "kernels that were left out" "$(ask t.db "SELECT sum(skipped) FROM (SELECT DISTINCT process, queue, skipped FROM ledger)")" 34
