// The twin that ../farm.cpp is measured against.
//
//     mpirun -n WORKERS+2 primes_mpi|trivial_mpi NUMBERS BATCH
#include "farm.h"

#include "work.h"

int main(int argc, char** argv) { return mpi_farm::run(argc, argv, work); }
