#!/usr/bin/env bash
# exposed.sh BUILD: how much of its collectives a rank does not hide behind kernels that compute, and whom the ranks of hosts wait
# for, in traces of random kernels on several queues and GPUs, to the nanosecond.
source "$(dirname "$0")/lib.sh"
seed=${RTL_TEST_SEED:-$$}
echo "seed: RTL_TEST_SEED=$seed"
for job in "2 1" "3 2" "6 3" "1 1"; do
    read -r ranks hosts <<<"$job"
    "$bin/ranks_exposed" made.db $((seed += 1)) "$ranks" "$hosts" >truth || fail "there is no trace"
    if [ "$ranks" = 1 ]; then
        "$rtl" ranks --by collectives made.db >one.out 2>one.err && fail "one rank is compared"
        continue
    fi
    /usr/bin/python3 "$here/ranks_exposed.py" "$rtl" made.db truth "$hosts" || fail "$ranks ranks on $hosts hosts"
done
