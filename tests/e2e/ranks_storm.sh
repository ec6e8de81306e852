#!/usr/bin/env bash
# ranks_storm.sh BUILD RANKS: so many ranks on one machine that start others within themselves, crash and are started again, under
# one rtl trace: each kernel of each, by the software GPU's log, with the right rank (ranks_storm.py).
source "$(dirname "$0")/lib.sh"
seed=${RTL_TEST_SEED:-$$}
echo "seed: RTL_TEST_SEED=$seed"
unset "${!OMPI_@}" "${!PMI@}" "${!SLURM@}" RANK WORLD_SIZE LOCAL_RANK
export SOFTGPU_DURATION='*=2000'
SOFTGPU_TRUTH=$scratch/truth.%p "$rtl" trace -q -m full --gpu soft -o t.db -- \
    /usr/bin/python3 "$here/ranks_storm.py" launch "$seed" "$1" "$bin/ctl" "$scratch/notes" >launch.out 2>launch.err ||
    fail "the launcher ended with status $?"
/usr/bin/python3 "$here/ranks_storm.py" check "$rtl" t.db notes "$build/bin/softgpu-run" truth.* || fail "the trace is not what ran"
