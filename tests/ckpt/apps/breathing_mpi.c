// Ranks that grow and shrink together, and free their memory early if that is of use; as the
// description of <piracema/ckpt.h> has it.
//
//   breathing_mpi CYCLES MEGABYTES SAYS
//
// The rank SAYS knows whether an image waits, and says when all are small. Each rank fills so much
// memory, and keeps it for all cycles but those in which an image is wanted.
#include <mpi.h>
#include <piracema/ckpt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  return (x ^ (x >> 27)) * 0x94D049BB133111EBu;
}

static uint64_t* fill(size_t count) {
  uint64_t* const memory = malloc(count * sizeof(uint64_t));
  size_t i;
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (i = 0; i < count; ++i) memory[i] = mix(i + 1);
  return memory;
}

int main(int argc, char** argv) {
  int rank, cycle, cycles, says;
  size_t count, i;
  uint64_t x, *memory;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  cycles = atoi(argv[1]);
  count = ((size_t)atoi(argv[2]) << 20) / sizeof x;
  says = atoi(argv[3]);
  x = (uint64_t)rank;
  memory = fill(count);
  for (cycle = 1; cycle <= cycles; ++cycle) {
    int wanted = rank == says && piracema_ckpt_wanted();
    MPI_Bcast(&wanted, 1, MPI_INT, says, MPI_COMM_WORLD);
    if (wanted) {
      free(memory);
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank == says) {
        const int answer = piracema_ckpt_good_moment();
        if (answer == PIRACEMA_CKPT_SAVED) fprintf(stderr, "saved in cycle %d\n", cycle);
        if (answer == PIRACEMA_CKPT_RESTORED) fprintf(stderr, "restored in cycle %d\n", cycle);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      memory = fill(count);
    }
    for (i = 0; i < count; ++i) x = mix(x ^ memory[i]);
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
    if (rank == 0) {
      printf("%d %016llx\n", cycle, (unsigned long long)x);
      fflush(stdout);
    }
    x += (uint64_t)rank;
  }
  free(memory);
  MPI_Finalize();
  return 0;
}
