#!/usr/bin/env bash
# launchers.sh: ranks that Open MPI and Slurm have started, Debian's own: each is the rank that its launcher says it is, each has
# a trace of its own without being told its name, and one trace of them all, made by rtl merge or by an rtl trace around the
# launcher, has every kernel. Runs in a root of script/rocm. The packages are installed once and stay in the root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$PWD/build
rtl=$build/bin/rtl
packages=(openmpi-bin slurm-wlm munge)
scratch=$(mktemp -d)
daemons=()
trap 'kill "${daemons[@]}" 2>/dev/null || true; wait; rm -rf "$scratch"' EXIT

fail() {
    echo "launchers.sh: $*" >&2
    tail -n 5 "$scratch"/*.log >&2 || true
    exit 1
}

source tests/rocm/packages.sh
install_packages "${packages[@]}"
export SOFTGPU_PLUGINS=$build/tests/lib/libsoftgpu_hip_plugin.so
ranks=4

# What a rank runs; the launcher's name of the rank is in the variable RANK_IS.
cat >"$scratch/rank" <<END
#!/bin/bash
exec timeout 120 "$build/tests/bin/ranks" "\${!RANK_IS}" $ranks "$scratch/meeting"
END
chmod +x "$scratch/rank"

# all_there TRACE NAME: it has every kernel of every rank, and knows the slowest.
all_there() {
    "$rtl" check "$1" >"$scratch/check.log" || fail "$2: the trace is not complete: $(cat "$scratch/check.log")"
    [ "$("$rtl" sql "$1" "SELECT group_concat(rank || ':' || kernels) FROM (SELECT p.rank, count(*) AS kernels FROM kernels
        JOIN processes p USING(process) GROUP BY 1 ORDER BY 1)")" = 0:121,1:121,2:121,3:121 ] || fail "$2: kernels of a rank are missing"
    "$rtl" ranks "$1" >"$scratch/ranks.log" || fail "$2: rtl ranks ended with status $?"
    grep -q '^rank 2 is the slowest one in 40 of 60 steps' "$scratch/ranks.log" || fail "$2: $(cat "$scratch/ranks.log")"
}

# launched NAME RANK_IS LAUNCHER...: rtl trace in each rank, and around the launcher.
launched() {
    local name=$1
    export RANK_IS=$2
    shift 2
    mkdir "$scratch/$name"
    cd "$scratch/$name"
    rm -f "$scratch/meeting"
    "$@" "$rtl" trace -q --gpu soft -- "$scratch/rank" >"$scratch/$name.log" 2>&1 || fail "$name: status $?"
    [ "$(echo ./*.db)" = "./trace-0.db ./trace-1.db ./trace-2.db ./trace-3.db" ] || fail "$name: the traces are $(echo ./*.db)"
    "$rtl" merge job.db trace-?.db >"$scratch/merge.log" || fail "$name: the traces could not be merged"
    all_there job.db "$name"
    rm -f "$scratch/meeting"
    "$rtl" trace -q --gpu soft -o around.db -- "$@" "$scratch/rank" >"$scratch/$name.log" 2>&1 || fail "around $name: status $?"
    [ "$around" = none ] || all_there around.db "around $name"
    cd "$scratch"
}

around=all
launched "Open MPI" OMPI_COMM_WORLD_RANK mpirun --allow-run-as-root --oversubscribe -n $ranks

# Slurm, whose daemons are this machine's.
cat >"$scratch/slurm.conf" <<END
ClusterName=test
SlurmctldHost=localhost
AuthType=auth/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.log
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmctldPort=6917
SlurmdPort=6918
NodeName=localhost NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=FORCE:16
END
slurm=$(dpkg-query -W -f '${Version}' slurm-wlm)
[ "${slurm%%.*}" -lt 23 ] || echo 'CgroupPlugin=disabled' >"$scratch/cgroup.conf"
chmod 755 "$scratch"
mkdir "$scratch/state" "$scratch/spool"
export SLURM_CONF=$scratch/slurm.conf
dd if=/dev/urandom of="$scratch/munge.key" bs=128 count=1 status=none
chown munge "$scratch/munge.key"
chmod 400 "$scratch/munge.key"
install -d -o munge -m 755 /run/munge "$scratch/munge"
setpriv --reuid=munge --regid=munge --clear-groups munged --foreground --key-file="$scratch/munge.key" --pid-file="$scratch/munge/pid" \
    --log-file="$scratch/munge/log" --seed-file="$scratch/munge/seed" >"$scratch/munge.log" 2>&1 &
daemons+=($!)
slurmctld -D >>"$scratch/slurmctld.log" 2>&1 &
daemons+=($!)
slurmd -D -N localhost >>"$scratch/slurmd.log" 2>&1 &
daemons+=($!)
for _ in $(seq 60); do
    sinfo -h -o %t 2>/dev/null | grep -q idle && break
    sleep 1
done
sinfo -h -o %t | grep -q idle || fail "Slurm does not come up"
around=none # its tasks are children of slurmd
launched Slurm SLURM_PROCID srun --overcommit -n $ranks
echo "Open MPI $(mpirun --version | sed -n '1s/.* //p'), $(srun --version)"
