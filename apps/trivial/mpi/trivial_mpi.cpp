// The twin that ../trivial.cpp is measured against.
//
//     mpirun -n WORKERS+2 trivial_mpi NUMBERS BATCH
#include "../../primes/mpi/farm.h"
#include "../work.h"

int main(int argc, char** argv) { return mpi_farm::run(argc, argv, work); }
