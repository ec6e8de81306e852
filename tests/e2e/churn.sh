#!/usr/bin/env bash
# churn.sh BUILD N [LIBRARY]: N short-lived queues, more than the ledger has rows for and most at an address that was used before;
# every kernel is there, as the device executed it.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_DURATION=100 SOFTGPU_TRUTH=$scratch/truth

[ $# -lt 2 ] || in_shape "$2"
"$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/queue_churn" "$1" >churn.out 2>churn.err ||
    fail "the program ended with status $?"
equal "the program's output" "$(cat churn.out)" "$1 queues, $(($1 * 10)) kernels"
equal "queues in the trace" "$(ask t.db 'SELECT count(*) FROM queues')" "$1"
"$rtl" check t.db >check.out 2>check.err || fail "rtl check ended with status $?"
equal "kernels in the trace" "$(ask t.db 'SELECT count(*) FROM kernels')" $(($1 * 10))
"$rtl" check --truth truth t.db >check.out 2>check.err || fail "rtl check --truth ended with status $?"
