#!/usr/bin/env bash
# copies.sh BUILD CASE: asynchronous copies under `rtl trace`: the program sees what it sees without RTL, and the
# trace holds each copy once, with the bytes, kind and ticks of the truth.
source "$(dirname "$0")/lib.sh"
case=$1
mode=full
program=("$bin/hsa_copies" --threads 3 --rounds 15)
case $case in
plain) ;;
slow) export SOFTGPU_COPY=20000:2 SOFTGPU_DELAY=200000:7 SOFTGPU_READ_AHEAD=1 ;;
starved) in_shape librtl-starved.so ;;
lite) mode=lite ;;
few) export RTL_POOL=2 ;;
leave) program+=(--leave 40) && export SOFTGPU_COPY=3000000 ;;
kill) program+=(--kill) ;;
*) fail "unknown case $case" ;;
esac

LD_PRELOAD=$soft "$bin/outcome" plain.end "${program[@]}" >plain.out 2>plain.err
SOFTGPU_TRUTH=truth "$bin/outcome" traced.end "$rtl" trace -q -m $mode --gpu soft -o t.db -- "${program[@]}" --times times \
    >traced.out 2>traced.err
equal "end of the program" "$(cat traced.end)" "$(cat plain.end)"
cmp -s plain.out traced.out || fail "stdout differs from the run without RTL"
without_remarks plain.err traced.err
cmp -s plain.err traced.err || fail "stderr differs from the run without RTL"

# Every copy is accounted for, however the end came.
equal "copies neither recorded nor explained" \
    "$(ask t.db "SELECT sum(seen) - sum(recorded) - sum(skipped) - sum(lost) FROM ledger WHERE what = 'copies'")" 0
equal "copies in the ledger and in the trace" "$(ask t.db "SELECT sum(recorded) FROM ledger WHERE what = 'copies'")" \
    "$(ask t.db 'SELECT count(*) FROM copies')"

# What the program says that it copied.
said=$(awk 'NF == 3 { sum += $2 } END { print sum }' plain.out)
case $case in
lite)
    equal "copies left out" "$(ask t.db "SELECT sum(skipped) FROM ledger WHERE what = 'copies'")" "$said"
    "$rtl" check t.db >check.out 2>check.err || fail "rtl check ended with status $?"
    ;;
few)
    equal "copies seen" "$(ask t.db "SELECT sum(seen) FROM ledger WHERE what = 'copies'")" "$said"
    [ "$(ask t.db "SELECT sum(lost) FROM ledger WHERE reason = 'pool' AND what = 'copies'")" -gt 0 ] ||
        fail "two signals were enough: the case shows nothing"
    "$rtl" check t.db >check.out 2>check.err && fail "a trace that lost copies is called complete"
    grep -q 'copies' check.out || fail "rtl check does not speak of copies"
    ;;
leave)
    equal "copies seen" "$(ask t.db "SELECT sum(seen) FROM ledger WHERE what = 'copies'")" $((said + 40))
    ;;
kill)
    equal "copies seen" "$(ask t.db "SELECT sum(seen) FROM ledger WHERE what = 'copies'")" "$said"
    equal "losses for another reason" "$(ask t.db "SELECT count(*) FROM ledger WHERE lost > 0 AND reason <> 'killed'")" 0
    ;;
*)
    awk 'NF == 3' plain.out | sort >said.list
    ask t.db 'SELECT kind, count(*), sum(bytes) FROM copies GROUP BY kind' | tr '|' ' ' | sort >kinds.list
    diff said.list kinds.list >kinds.out || fail "copies by kind are not what the program made"
    "$rtl" check --truth truth t.db >check.out 2>check.err || fail "rtl check --truth ended with status $?"
    equal "copies without times" "$(ask t.db "SELECT count(*) FROM copies WHERE start IS NULL AND kind <> 'host-to-host'")" 0
    ;;
esac

# The times that the program was told are those of its copies, to the tick.
ask t.db 'SELECT bytes, start, end FROM copies WHERE start IS NOT NULL' | tr '|' ' ' >copies.list
case $case in
few | lite | kill | leave) ;;
*)
    awk 'function key(b, s, e) { return b " " int((s + 5) / 10) " " int((e + 5) / 10) }
         NR == FNR { known[key($1, $2, $3)] = 1; next }
         !(key($1, $2, $3) in known) { print }' copies.list times >strange.out
    [ -s times ] || fail "the program was told no times"
    [ ! -s strange.out ] || fail "the program was told times that no copy has"
    ;;
esac
