#!/usr/bin/env bash
# no_pages.sh BUILD: the memory that librtl.so asks for is not there, at each request of its in turn, once and from then on. The program
# ends as it does without RTL, and what is not in the trace is told.
source "$(dirname "$0")/lib.sh"
kernels=300
program=("$bin/hsa_storm" --dispatches "$kernels" --queues 2)
LD_PRELOAD=$soft "${program[@]}" >alone.out 2>alone.err || fail "without RTL: status $?"

# look WHAT
look() {
    without_remarks traced.err alone.err
    equal "$1: output" "$(cat traced.out)" "$(cat alone.out)"
    equal "$1: errors" "$(grep -v '^rtl: ' traced.err || true)" "$(cat alone.err)"
    if "$rtl" check t.db >check.out 2>&1; then
        equal "$1: kernels" "$(ask t.db 'SELECT count(*) FROM kernels')" "$kernels"
        whole=$((whole + 1))
    elif grep -q 'nothing recorded' check.out; then
        refused=$((refused + 1))
    else
        equal "$1: kernels that the account knows of" \
            "$(ask t.db "SELECT sum(seen) FROM (SELECT DISTINCT process, queue, seen FROM ledger)")" "$kernels"
    fi
}

refused=0 whole=0
for how in once on; do
    for number in $(seq 100); do
        rm -f refused
        LD_PRELOAD=$build/tests/lib/no_pages.so NO_PAGES="$number $how" "$rtl" trace --gpu soft -q -f -o t.db -- "${program[@]}" \
            >traced.out 2>traced.err || fail "without memory, $number $how: status $?"
        [ -e refused ] || break
        look "without memory, $number $how"
    done
    [ ! -e refused ] || fail "librtl.so asks for memory more than $number times"
done
[ "$refused" -ge 16 ] || fail "only $refused runs were refused"
[ "$whole" -ge 2 ] || fail "only $whole runs were recorded all the same"
