#!/usr/bin/env bash
# embed.sh BUILD WAY [PLUGIN]: a program that has RTL's events handed to it gets all of them, and nothing is written.
source "$(dirname "$0")/lib.sh"
way=$1
export SOFTGPU_DURATION=1000 SOFTGPU_TRUTH=$scratch/truth-%p LD_LIBRARY_PATH=$build/lib LD_PRELOAD=$soft
unset RTL_QUEUE
[ "$way" != truth ] || export SOFTGPU_TRUTH=$scratch/truth
[ "$way" != slow ] || export RTL_BUFFER=64K
program=("$bin/embed" "$way")
if [ "$way" = hip ]; then
    export SOFTGPU_PLUGINS=$2
    program=("$bin/embed_hip" 1000)
fi
mkdir empty
cd empty
"$bin/outcome" ../end "${program[@]}" >../run.out 2>../run.err || true
cd ..
equal "end of the program" "$(cat end)" "exit 0"
nothing_said run.err
equal "files that were written" "$(ls -A empty)" ""

# Who records the program into a trace gets all of it; nobody may subscribe then.
if [ "$way" = child ]; then
    "$rtl" trace -q --gpu soft -o t.db -- "$bin/embed" alone >run.out 2>run.err && fail "the program under rtl trace noticed nothing"
    grep -q 'rtlRecording() == 0' run.err || fail "the program under rtl trace is not recorded"
    equal "kernels in the trace" "$(ask t.db 'SELECT count(*) FROM kernels')" 10
fi
