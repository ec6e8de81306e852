#!/usr/bin/env bash
# mpi.sh BUILD openmpi|mpich: rtl trace --sync mpi in ranks of Debian's MPI on hosts that are namespaces of this machine, with
# clocks of their own, of which some are off and drift by what is planted: rtl merge finds that, within the error that it says.
# Needs root, and the MPI with its compiler; else skipped, 77.
[ "${MPI_OWN:-}" ] || MPI_OWN=1 exec unshare -nm "$0" "$@" || exit 77
source "$(dirname "$0")/lib.sh"
source "$here/hosts.sh"
mpi=$1
command -v "mpicc.$mpi" >/dev/null && command -v "mpirun.$mpi" >/dev/null || { echo "no $mpi here: skipped" && exit 77; }
"mpicc.$mpi" -Wall -Werror -o around "$here/mpi_around.c" 2>mpicc.err || fail "mpi_around.c was not compiled"

base=$(/usr/bin/python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_BOOTTIME))')
fast="1000000000000 50000 5000000" # 50 ppm, its time of day 5 ms ahead
true="0 0 0"                       # the host that is up longest: the new trace's clock
slow="2000000000000 -30000 -20000000"
ip link set lo up
ip addr add 10.77.0.1/32 dev lo
names="10.77.0.1 $(uname -n)\n10.77.1.2 node1\n10.77.2.2 node2\n10.77.3.2 node3\n"
printf '127.0.0.1 localhost\n%b' "$names" >hosts.own
mount --bind hosts.own /etc/hosts
for number in 1 2 3; do
    host "$number" "node$number"
    printf '127.0.0.1 localhost\n%b' "$names" >"hosts.$number"
done

# In the place of ssh.
cat >agent <<END
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
to=(x ${keepers[*]})
number=\${1#node}
shift
exec nsenter -t "\${to[number]}" -n -m -u --wd="$scratch" bash -c "\$*"
END
# What a rank runs, with the clock of its host.
cat >rank <<END
#!/bin/bash
case \$(hostname) in node1) clock="$fast" ;; node2) clock="$true" ;; node3) clock="$slow" ;; esac
export LD_PRELOAD="$build/tests/lib/libe2e_sync_clock.so" SYNC_CLOCK="$base \$clock"
export SOFTGPU_PLUGINS=$SOFTGPU_PLUGINS
exec timeout 110 "$rtl" trace --gpu soft -q -f -o '$scratch/'\$1'%r.db' --sync mpi -- "$scratch/around" "\$2"
END
chmod +x agent rank

# launch NAME COMMAND: two ranks on each of three hosts, which share this machine's cores. Left to itself, Open MPI, and UCX, which it
# takes where there is an AMD GPU, take the hosts' loopbacks for one network.
launch() {
    case $mpi in
    openmpi)
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 120 mpirun.openmpi --mca plm_rsh_agent "$scratch/agent" --bind-to none \
            --mca pml ob1 --mca btl_tcp_if_include eth0 --host node1:2,node2:2,node3:2 -n 6 "$scratch/rank" "$@"
        ;;
    mpich)
        timeout 120 mpirun.mpich -launcher ssh -launcher-exec "$scratch/agent" -hosts node1:2,node2:2,node3:2 -n 6 "$scratch/rank" "$@"
        ;;
    esac >"$1.out" 2>"$1.err" 9>&-
}
launch job "$bin/flood 20 && sleep 2 && $bin/flood 20" || fail "status $? of $mpi"
! grep -q 'rtl: ' job.err || fail "rtl trace says something"
# One rank of each host but that of rank 0 has asked, at the start and at the end.
for rank in 0 1 2 3 4 5; do
    count=$(ask "job$rank.db" "SELECT count(*) || ' of ' || count(DISTINCT peer_host) || ' ' || coalesce(min(peer_host), '') FROM clock_exchanges")
    case $rank in
    2 | 4) [[ $count = [234]" of 1 node1" ]] || fail "exchanges of rank $rank: $count" ;;
    *) equal "exchanges of rank $rank" "$count" "0 of 0 " ;;
    esac
done
/usr/bin/python3 "$here/mpi.py" "$rtl" "$base" "$true" "$fast" "$slow" || fail "the clocks are not those that were planted"

# A program that has MPI, and one that has not, alone.
(unset LD_PRELOAD && cd "$scratch" && timeout 60 "$rtl" trace --gpu soft -q -o one.db --sync mpi -- ./around "$bin/flood 20") >one.out 2>one.err ||
    fail "a program that was started without a launcher"
equal "what rtl trace says of one rank" "$(cat one.err)" ""
"$rtl" trace --gpu soft -q -o none.db --sync mpi -- "$bin/flood" 20 >none.out 2>none.err || fail "a program without MPI"
equal "what rtl trace says of no MPI" "$(cat none.err)" "rtl: --sync mpi: no clocks were compared over MPI: no process of the \
program has come out of an MPI_Init that librtlmpi.so stands in front of, or it has said why"
equal "the note of it" "$(ask none.db "SELECT count(*) FROM notes WHERE text LIKE '--sync mpi: no clocks were compared%'")" 1
