// The twin that ../primes.cpp is measured against.
//
//     mpirun -n WORKERS+2 primes_mpi NUMBERS BATCH
#include "../work.h"
#include "farm.h"

int main(int argc, char** argv) { return mpi_farm::run(argc, argv, work); }
