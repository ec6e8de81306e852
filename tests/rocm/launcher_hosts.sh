#!/usr/bin/env bash
# launcher_hosts.sh: ranks that Open MPI and Slurm, Debian's own, have started on two hosts: rtl trace --sync compares the hosts'
# clocks, under either launcher alike, and rtl merge makes one trace of those of all ranks, right within the error that it says.
# The hosts are namespaces of this machine, so that their clocks are in truth one. Ranks of MPICH that Slurm has started do it
# over MPI (--sync mpi). Runs in a root of script/rocm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/rocm/packages.sh
if [ -z "${SYNC_OWN:-}" ]; then # what is installed comes by this machine's network
    install_packages openmpi-bin libmpich-dev slurm-wlm munge iproute2 jq
    SYNC_OWN=1 exec unshare -nm tests/rocm/launcher_hosts.sh
fi
build=$PWD/build
rtl=$build/bin/rtl
tests=$PWD/tests
scratch=$(mktemp -d)
daemons=()
trap 'kill "${daemons[@]}" 2>/dev/null || true; exec 9>&-; wait; rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
cd "$scratch"

fail() {
    echo "launcher_hosts.sh: $*" >&2
    tail -n 5 "$scratch"/*.log >&2 || true
    exit 1
}

source "$tests/e2e/hosts.sh"
ip link set lo up
ip addr add 10.77.0.1/32 dev lo
printf '127.0.0.1 localhost\n10.77.0.1 %s\n10.77.1.2 node1\n10.77.2.2 node2\n' "$(uname -n)" >hosts.own
mount --bind hosts.own /etc/hosts
host 1 node1
host 2 node2 node1

export SOFTGPU_PLUGINS=$build/tests/lib/libsoftgpu_hip_plugin.so
ranks=4
cat >rank <<END
#!/bin/bash
exec timeout 120 "$build/tests/bin/ranks" "\${!RANK_IS}" $ranks "$scratch/meeting"
END
chmod +x rank

# launched NAME RANK_IS LAUNCHER…: a trace for each rank, of two hosts; one of all of them.
launched() {
    local name=$1 far
    export RANK_IS=$2
    mkdir "$name"
    cd "$name"
    rm -f ../meeting
    "${@:3}" "$rtl" trace -q --gpu soft --sync node1 -- "$scratch/rank" >"../$name.log" 2>&1 9>&- || fail "$name: status $?"
    [ ! -s "../$name.log" ] || ! grep -q -e '--sync' "../$name.log" || fail "$name: something is said"
    [ "$(echo ./*.db)" = "./trace-0.db ./trace-1.db ./trace-2.db ./trace-3.db" ] || fail "$name: the traces are $(echo ./*.db)"
    "$rtl" merge --json job.db trace-?.db >"../$name-merge.log" || fail "$name: the traces could not be merged"
    [ "$(jq -r '[.traces[].host] | unique | join(" ")' "../$name-merge.log")" = "node1 node2" ] || fail "$name: other hosts"
    # Of one host the clock is the new trace's; of the other one it is put there, and was there before. The program's all-reduces
    # only last as long as if they had waited, so that packets may contradict them, and count.
    far=$(jq '[.traces[] | select(.clock == "exchanges" or .clock == "both")] |
        if length == 2 and all(.exchanges > 1 and .error_ns < 50000000) then all(.shift_ns <= .error_ns and -.shift_ns <= .error_ns)
        else "not compared" end' "../$name-merge.log")
    [ "$far" = true ] || fail "$name: $far: $(jq -c '.traces[] | [.host, .clock, .exchanges, .shift_ns, .error_ns]' "../$name-merge.log")"
    "$rtl" check job.db >"../$name-check.log" || fail "$name: the trace is not complete"
    [ "$("$rtl" sql job.db "SELECT group_concat(rank || ':' || kernels) FROM (SELECT p.rank, count(*) AS kernels FROM kernels
        JOIN processes p USING(process) GROUP BY 1 ORDER BY 1)")" = 0:121,1:121,2:121,3:121 ] || fail "$name: kernels of a rank are missing"
    "$rtl" ranks job.db >"../$name-ranks.log" || fail "$name: rtl ranks ended with status $?"
    grep -q '^4 ranks on 2 hosts' "../$name-ranks.log" || fail "$name: $(head -n 1 "../$name-ranks.log")"
    grep -q '^  times of different hosts are right to each other within ' "../$name-ranks.log" || fail "$name: how far clocks are off is not told"
    grep -q '^rank 2 is the slowest one in 40 of 60 steps' "../$name-ranks.log" || fail "$name: another rank is the slowest"
    echo "$name: $(jq -c '[.traces[] | select(.error_ns) | [.host, .clock, .exchanges, .shift_ns, .error_ns]]' "../$name-merge.log")"
    cd ..
}

# In the place of ssh.
cat >agent <<END
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
case \$1 in
node1) to=${keepers[1]} ;;
node2) to=${keepers[2]} ;;
*) exit 1 ;;
esac
shift
exec nsenter -t "\$to" -n -m -u --wd="$scratch" bash -c "\$*"
END
chmod +x agent
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
launched "Open-MPI" OMPI_COMM_WORLD_RANK mpirun.openmpi --mca plm_rsh_agent "$scratch/agent" --host node1:2,node2:2 -n $ranks \
    -x SOFTGPU_PLUGINS -x RANK_IS

cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$(uname -n)(10.77.0.1)
AuthType=auth/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool.%n
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.%n.log
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmctldPort=6917
SlurmdPort=6918
NodeName=node1 NodeAddr=10.77.1.2 CPUs=2 State=UNKNOWN
NodeName=node2 NodeAddr=10.77.2.2 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=FORCE:16
END
slurm=$(dpkg-query -W -f '${Version}' slurm-wlm)
[ "${slurm%%.*}" -lt 23 ] || echo 'CgroupPlugin=disabled' >cgroup.conf
mkdir state spool.node1 spool.node2
export SLURM_CONF=$scratch/slurm.conf
dd if=/dev/urandom of=munge.key bs=128 count=1 status=none
chown munge munge.key
chmod 400 munge.key
install -d -o munge -m 755 /run/munge munge
setpriv --reuid=munge --regid=munge --clear-groups munged --foreground --key-file="$scratch/munge.key" --pid-file="$scratch/munge/pid" \
    --log-file="$scratch/munge/log" --seed-file="$scratch/munge/seed" >munge.log 2>&1 9>&- &
daemons+=($!)
slurmctld -D >>slurmctld.log 2>&1 9>&- &
daemons+=($!)
for n in 1 2; do
    in_host $n slurmd -D -N node$n >>slurmd.$n.log 2>&1 &
    daemons+=($!)
done
for _ in $(seq 60); do
    [ "$(sinfo -h -N -o %t 2>/dev/null | grep -c idle)" -lt 2 ] || break
    sleep 1
done
[ "$(sinfo -h -N -o %t | grep -c idle)" = 2 ] || fail "Slurm does not come up"
launched Slurm SLURM_PROCID srun -N 2 -n $ranks --ntasks-per-node=2 --overcommit

# Over MPI, whose ranks Slurm has started: one of the second host asks, at the start and at the end.
mpicc.mpich -o around "$tests/e2e/mpi_around.c" || fail "mpi_around.c was not compiled"
mkdir mpi
srun --mpi=pmi2 -N 2 -n $ranks --ntasks-per-node=2 --overcommit "$rtl" trace -q --gpu soft \
    --sync mpi -o 'mpi/%r.db' -- "$scratch/around" true >mpi.log 2>&1 9>&- || fail "srun --mpi=pmi2: status $?"
for rank in 0 1 2 3; do
    count=$("$rtl" sql mpi/$rank.db "SELECT count(*) FROM clock_exchanges WHERE peer_host = 'node1'")
    [ "$count" -ge 2 ] && asks=yes || asks=no
    [ "$count-$asks-$rank" = "0-no-$rank" ] || [ "$asks-$rank" = yes-2 ] || fail "srun --mpi=pmi2: $count exchanges of rank $rank"
done
[ "$asks" = no ] && [ -s mpi/2.db ] || fail "srun --mpi=pmi2: no rank of the second host asked"
echo "Open MPI $(mpirun.openmpi --version | sed -n '1s/.* //p'), $(srun --version)"
