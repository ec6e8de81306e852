#!/usr/bin/env bash
# execs.sh BUILD WAY COUNT [PROGRAM ARGUMENT...]: images that execute the next one (execs.c). Each that opens a GPU is a process
# of its own in the trace, those that were replaced are told from the one that ended, none has died, and the kernels of all are
# there. What was in flight at an exec is counted. A process has one truth log, which its images continue.
source "$(dirname "$0")/lib.sh"
program=("$bin/execs" "$@")
last=1 # ends, and does not execute PROGRAM
[ $# = 2 ] || last=0
export SOFTGPU_DURATION='*=1000'
[ "$1" != flying ] || SOFTGPU_DURATION='*=20000000'

LD_PRELOAD=$soft "$bin/outcome" plain.end "${program[@]}" >plain.out 2>plain.err
SOFTGPU_TRUTH=$scratch/truth.%p "$bin/outcome" traced.end "$rtl" trace -q -m full --gpu soft -o t.db -- "${program[@]}" \
    >traced.out 2>traced.err
equal "end of the program" "$(cat traced.end)" "$(cat plain.end)"
cmp -s plain.out traced.out || fail "stdout differs from the run without RTL"
without_remarks plain.err traced.err
cmp -s plain.err traced.err || fail "stderr differs from the run without RTL"

images=$(grep -c kernels plain.out)
kernels=$(awk '/kernels/ { sum += $2 } END { print sum }' plain.out)
children=0 # that run kernels and end
case $1 in fork | vfork) children=$((images / 2)) ;; esac
replaced=$((images - children - 1 + (last == 0)))

equal "processes" "$(ask t.db 'SELECT count(*) FROM processes')" "$images"
equal "replaced" "$(ask t.db "SELECT count(*) FROM processes WHERE state = 'replaced'")" "$replaced"
equal "ended in order" "$(ask t.db "SELECT count(*) FROM processes WHERE state = 'closed'")" $((images - replaced))
equal "seen" "$(ask t.db 'SELECT sum(seen) FROM (SELECT DISTINCT process, queue, seen FROM ledger)')" "$kernels"

status=0
"$rtl" check --json t.db --truth truth.* >check.out 2>check.err || status=$?
field() { jq "$1" check.out; }
equal "died" "$(field .died)" 0
equal "replaced in the verdict" "$(field .replaced)" "$replaced"
equal "missing" "$(field .truth.missing)" 0
lost=$(field '.total.lost | add')
if [ "$1" = flying ]; then
    equal "status of the verdict" $status 1
    equal "in the trace, or lost" $(($(field .total.stored) + lost)) "$kernels"
    equal "unaccounted" "$(field .unaccounted)" "$(field .total.lost.killed)"
    [ "$(field .unaccounted)" -gt 0 ] || fail "what was in flight at an exec is not counted"
    gone=$(($(field .truth.executed) - $(field .total.stored)))
    [ $gone -le "$lost" ] || fail "$gone kernels ran and are not there, and $lost are said to be lost"
else
    equal "status of the verdict" $status 0
    equal "lost" "$lost" 0
    equal "unaccounted" "$(field .unaccounted)" 0
    equal "kernels" "$(ask t.db 'SELECT count(*) FROM kernels')" "$kernels"
fi
