#!/usr/bin/env bash
# exposed.sh BUILD: how much of its collectives a rank does not hide behind kernels that compute, and whom the ranks of hosts wait
# for, in traces of random kernels on several queues and GPUs, to the nanosecond.
source "$(dirname "$0")/lib.sh"
seed=${RTL_TEST_SEED:-$$}
echo "seed: RTL_TEST_SEED=$seed"
for job in "2 1 2" "3 2 1" "6 3 2" "4 1 1" "1 1 2"; do
    read -r ranks hosts gpus <<<"$job"
    "$bin/ranks_exposed" made.db $((seed += 1)) "$ranks" "$hosts" "$gpus" >truth || fail "there is no trace"
    if [ "$ranks" = 1 ]; then
        "$rtl" ranks --by collectives made.db >one.out 2>one.err && fail "one rank is compared"
        continue
    fi
    /usr/bin/python3 "$here/ranks_exposed.py" "$rtl" made.db truth "$hosts" || fail "$ranks ranks of $gpus GPUs on $hosts hosts"
done

# What repeats in one process alone is not what ranks are compared by.
"$bin/bench_store" --write replay --kernels 20000 --file alone.db >made.out || fail "there is no trace of replays"
"$rtl" steps alone.db >steps.out || fail "nothing repeats in it"
"$bin/ranks_exposed" made.db "$seed" 3 1 >truth || fail "there is no trace"
"$rtl" merge both.db made.db alone.db >merged.out || fail "they cannot be merged"
"$rtl" ranks --json --by collectives both.db >wanted.json || fail "rtl ranks --by collectives ended with $?"
"$rtl" ranks --json both.db >found.json 2>found.err || fail "rtl ranks ended with $?: $(cat found.err)"
equal "ranks that are compared" "$(jq '.ranks | length' found.json)" 3
cmp found.json wanted.json || fail "it is not by collectives that they are compared"
