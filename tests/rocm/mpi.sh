#!/usr/bin/env bash
# mpi.sh: rtl trace --sync mpi under this suite's Open MPI and MPICH (tests/e2e/mpi.sh), and in a program of the one that has loaded
# the other one as well. Runs in a root of script/rocm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/rocm/packages.sh
install_packages openmpi-bin libopenmpi-dev mpich libmpich-dev iproute2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# library MPI
library() {
    ldconfig -p | awk -v name="$([ "$1" = mpich ] && echo libmpich.so.12 || echo libmpi.so.40)" '$1 == name { print $NF; exit }'
}

for mpi in openmpi mpich; do
    tests/e2e/mpi.sh "$PWD/build" "$mpi"
    other=$([ $mpi = mpich ] && echo openmpi || echo mpich)
    "mpicc.$mpi" -o "$scratch/two" tests/e2e/mpi_around.c -Wl,--no-as-needed "$(library $mpi)" "$(library $other)"
    [ "$(objdump -p "$scratch/two" | grep -c -E 'NEEDED *(libmpi.so.40|libmpich.so.12)')" = 2 ] || { echo "mpi.sh: no program with two MPIs" && exit 1; }
    timeout 60 "mpirun.$mpi" -n 2 build/bin/rtl trace --gpu soft -q -o "$scratch/$mpi-%r.db" --sync mpi -- "$scratch/two" true 2>"$scratch/err" ||
        { cat "$scratch/err" && exit 1; }
    ! grep 'rtl: ' "$scratch/err" || exit 1
    echo "$mpi: $(dpkg-query -W -f '${Version}' "$([ "$mpi" = mpich ] && echo mpich || echo openmpi-bin)")"
done
