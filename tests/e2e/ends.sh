#!/usr/bin/env bash
# ends.sh BUILD WAY: a program that ends in this way ends the same under `rtl trace`: status or signal, stdout
# and stderr. The trace can be read and holds every kernel that the program had waited for.
source "$(dirname "$0")/lib.sh"
# A program under TSan sleeps a second at its end, for which a child that does nothing any more would go on.
TSAN_OPTIONS+=:atexit_sleep_ms=0
way=$1
export SOFTGPU_DURATION='storm_endless=1000000000000,*=1000'
program=("$bin/ends" "$way")
[ "$way" != dlclose ] || program=("$bin/ends_dlclose" "$build/tests/lib/e2e_module.so")

# Through a pipe, so that what a child prints after its parent's end is waited for; sorted, because
# parent and child print in no fixed order.
LD_PRELOAD=$soft "$bin/outcome" plain.end "${program[@]}" 2>plain.err | sort >plain.out
"$bin/outcome" traced.end "$rtl" trace -q -m full --gpu soft -o t.db -- "${program[@]}" 2>traced.err | sort >traced.out

# Debian's ROCr counts what is not given back, which is chance with a queue at work, and RTL leaves a signal to it.
[ "$way" != hung-with-queue ] || sed -i '/Resource leak detected by SharedSignalPool/d' plain.err traced.err

equal "end of the program" "$(cat traced.end)" "$(cat plain.end)"
cmp -s plain.out traced.out || fail "stdout differs from the run without RTL"
without_remarks plain.err traced.err
cmp -s plain.err traced.err || fail "stderr differs from the run without RTL"

waited=$(sed -n 's/.*kernels \([0-9]*\)$/\1/p' plain.out | awk '{ sum += $1 } END { print sum + 0 }')
[ "$waited" -gt 0 ] || fail "the program did not say how many kernels it waited for"
"$rtl" info t.db >info.out 2>info.err || fail "rtl info ended with status $?"
recorded=$(ask t.db 'SELECT count(*) FROM kernels')
[ "$recorded" -ge "$waited" ] || fail "the trace has $recorded kernels, the program waited for $waited"

# Each kernel seen is accounted for, however the end came.
open=$(ask t.db 'SELECT sum(seen) - sum(recorded) FROM (SELECT DISTINCT process, queue, seen, recorded FROM ledger)')
lost=$(ask t.db 'SELECT coalesce(sum(lost), 0) FROM ledger')
equal "kernels seen, neither recorded nor lost" $((open - lost)) 0
case $way in
# Ends with kernels in flight.
running | busy | submitters-* | again-and-again) ;;
# The endless kernel, and one that may or may not have got so far.
hung*)
    [ "$lost" -ge 1 ] && [ "$lost" -le 2 ] || fail "$lost kernels were lost, not the one that never ends"
    "$rtl" check t.db >check.out 2>check.err && fail "rtl check finds nothing missing"
    # With its queue destroyed, the account alone says it.
    [ "$way" = hung-shut-down ] || grep -q 'note: .*given up' check.out || fail "nobody says what was given up"
    ;;
# The kernels behind the hole never come to the device.
half-written*) [ "$lost" -le 1 ] || fail "$lost kernels were lost" ;;
*) equal "kernels lost" "$lost" 0 ;;
esac
