#!/usr/bin/env bash
# agree.sh BUILD: one program in both modes. What the ranges of its traces counted, counter by counter, is what the software GPU's
# log of the same run says that the ranges' kernels added, and is the same in both modes; a ratio is one of sums.
source "$(dirname "$0")/../../e2e/lib.sh"
skip_without_counters
unset RTL_QUEUE
# One kernel always hits, the others never do.
export COUNT_EXPECTED=$scratch/expected SOFTGPU_COUNTERS='storm_first read=64 write=0 hit=100 valu=20; * read=64 write=0 hit=0'
counters=SQ_WAVES,SQ_INSTS_VALU,SQ_INSTS_SALU,TCC_HIT,TCC_MISS,TCC_EA_RDREQ
for mode in kernel range; do
    SOFTGPU_TRUTH=$scratch/truth-$mode "$rtl" trace -q --gpu soft --counting $mode --metrics $counters,l2_hit -o $mode.db -- "$bin/count" nest \
        >traced.out 2>traced.err || fail "the program ended with status $? in mode $mode"
    "$rtl" check $mode.db >check.out 2>&1 || fail "rtl check ended with status $? in mode $mode"
    "$build/bin/softgpu-run" --truth "$scratch/truth-$mode" >$mode.truth || fail "the truth of mode $mode cannot be read"
    "$rtl" ranges $mode.db --json >$mode.json || fail "rtl ranges ended with status $? in mode $mode"
done
python3 "$here/../intercept/counters/agree.py" "$rtl" $counters >same.out 2>same.err || fail "sums are not those of the truth"
