#!/usr/bin/env bash
# mpi.sh: rtl trace --sync mpi under this suite's Open MPI and MPICH (tests/e2e/mpi.sh). Runs in a root of script/rocm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/rocm/packages.sh
install_packages openmpi-bin libopenmpi-dev mpich libmpich-dev iproute2
for mpi in openmpi mpich; do
    tests/e2e/mpi.sh "$PWD/build" "$mpi"
    echo "$mpi: $(dpkg-query -W -f '${Version}' "$([ "$mpi" = mpich ] && echo mpich || echo openmpi-bin)")"
done
