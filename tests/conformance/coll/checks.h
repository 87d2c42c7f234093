#pragma once

// What all parts of the conformance program share. It is an MPI program that calls every collective
// that the library takes over, in every way that is easy to get wrong, and checks each result. It
// knows nothing of the library: it runs bare and with it preloaded, and has to say the same.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

/// This rank and the number of ranks, of the communicator that is being tested.
extern int me, size;
extern long checks, wrong;
/// What is being done, for the first few results that are wrong.
extern std::string doing;

/// From now on SIGUSR2 has this rank print where it stands.
void answer_who_asks();
void check(bool right, const char* what);
/// Bytes that tell who made them.
std::vector<unsigned char> bytes_of(int rank, std::size_t count);

// Each of these on `comm`, whose ranks all call it.
void broadcasts(MPI_Comm comm);
void reductions(MPI_Comm comm);
void gathers(MPI_Comm comm);
void nonblocking_broadcasts(MPI_Comm comm);
void barriers(MPI_Comm comm);
void wrong_arguments(MPI_Comm comm);
/// On MPI_COMM_WORLD and others made from it.
void communicators();
