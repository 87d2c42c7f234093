#!/usr/bin/env bash
# A machine without any MPI configures, and says what is left out: that is a newcomer's first command.
#
#   tests/install/without_mpi.sh CXX NINJA PYTHON
#
# The programs of /usr/bin are not seen here, but for those that are given.
set -euo pipefail

root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$1" -DCMAKE_MAKE_PROGRAM="$2" \
  -DPython3_EXECUTABLE="$3" "-DCMAKE_IGNORE_PATH=/usr/bin;/bin" 2>&1 | tee "$build/said"
grep -q "collectives under openmpi are left out: there is no mpicc.openmpi" "$build/said"
grep -q "collectives under mpich are left out: there is no mpicc.mpich" "$build/said"
