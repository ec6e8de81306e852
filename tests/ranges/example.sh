#!/usr/bin/env bash
# example.sh BUILD: the example says of its steps what is known of it, with a session, alone and beside a trace, and `rtl ranges` says the same of the trace.
source "$(dirname "$0")/../e2e/lib.sh"
unset RTL_QUEUE
# Eight kernels in a graph that is launched once a step; before it, as many more as the number of the step.
wanted='prepare: 0 kernels, 0 graph launches, 0 bytes copied
all steps: 38 kernels, 4 graph launches, 0 bytes copied
step 0: 8 kernels, 1 graph launches, 0 bytes copied
step 1: 9 kernels, 1 graph launches, 0 bytes copied
step 2: 10 kernels, 1 graph launches, 0 bytes copied
step 3: 11 kernels, 1 graph launches, 0 bytes copied'
LD_LIBRARY_PATH=$build/lib:$build/lib/softgpu "$bin/ranges_example" >alone.out 2>alone.err || fail "the example ended with status $?"
equal "what the session says" "$(sed 's/;.*//' alone.out)" "$wanted"
"$rtl" trace -q --gpu soft -o t.db -- "$bin/ranges_example" >traced.out 2>traced.err || fail "the example ended with status $? under rtl trace"
equal "what the session says beside the trace" "$(sed 's/;.*//' traced.out)" "$wanted"
equal "what the trace says" "$("$rtl" ranges t.db --json | python3 -c '
import json, sys
for row in json.load(sys.stdin)["ranges"]:
    print("{name}: {kernels} kernels, {graph_launches} graph launches, {copy_bytes} bytes copied".format(**row))')" "$wanted"
