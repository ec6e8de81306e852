#!/usr/bin/env bash
# hsa_storm without RTL: the producer, its own checks and the software GPU agree with each other.
source "$(dirname "$0")/lib.sh"
# Without RTL the software GPU is looked at itself.
export TSAN_OPTIONS=$TSAN_OPTIONS:suppressions=$here/../tsan.supp

storm() {
    SOFTGPU_TRUTH=$scratch/truth LD_PRELOAD=$soft "${find_leaks[@]}" "$bin/hsa_storm" "$@" >storm.out 2>storm.err ||
        fail "hsa_storm $* ended with status $?"
    local wanted=0
    wanted=$(sed -n 's/^dispatched \([0-9]*\),.*/\1/p' storm.out)
    equal "kernels executed by 'hsa_storm $*'" "$("$build/bin/softgpu-run" --truth truth | grep -c 'storm_')" "$wanted"
}

export SOFTGPU_DURATION=100
storm --dispatches 5000
storm --dispatches 20000 --batch 50 --queues 3 --threads 6 --signal-every 4 --counting-every 3 --barrier-every 7 --bit-every 5
storm --dispatches 5000 --batch 32 --queue-size 64 --threads 4 --signal-every 1
