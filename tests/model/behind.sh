#!/usr/bin/env bash
# behind.sh BUILD GENERATION: a tool that makes every queue an intercept queue, and RTL's interposition before it:
# nothing is missing, and the program sees no difference.
source "$(dirname "$0")/lib.sh"
tools=$lib/passthrough.so
[ "$1" = real ] || tools="$lib/intercept_model.so $tools"
MODEL_GENERATION=$1 HSA_TOOLS_LIB=$tools MODEL_REPORT=report PASSTHROUGH_LOG=calls RTL_QUEUE=interpose SOFTGPU_DURATION=100 \
    "$rtl" trace -q -m full --gpu soft -o t.db -- "${find_leaks[@]}" "$bin/hsa_storm" --dispatches 6000 --batch 16 --queues 2 --threads 4 \
    --queue-size 16384 --signal-every 4 --counting-every 3 --barrier-every 7 --bit-every 5 >storm.out 2>storm.err ||
    fail "the storm ended with status $?"
grep -q 'all right$' storm.out || fail "the program saw a difference"
equal "kernels that the device executed" "$(executed storm_)" 6000
equal "kernels in the trace" "$(ask t.db 'SELECT count(*) FROM kernels')" 6000
"$rtl" check t.db >check.out 2>check.err || fail "rtl check ended with status $?"
equal "packets that the tool saw" "$(awk '{ n += $3 } END { print n }' calls)" \
    "$(sed -n 's/^dispatched \([0-9]*\), barriers \([0-9]*\),.*/\1 + \2 + 2/p' storm.out | { read -r sum && echo $((sum)); })"
[ "$1" = real ] || equal "overflows" "$(counted overflow)" 0
