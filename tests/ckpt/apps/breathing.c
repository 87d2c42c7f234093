// A program that grows and shrinks, and says when it is small: C99, as a user would write it.
//
//   breathing CYCLES MEGABYTES says|silent|obeys
//
// In each cycle it fills so much memory, writes "N full", works, frees it all, and writes what came
// out. It `says` then that it is a good moment, or is `silent`; one that `obeys` does both only
// in cycles after it got SIGUSR1. What it is answered it writes to standard error. While it is full
// for the first time it waits until the FIFO $BREATHING_HOLD has a writer, if it is told of one.
#include <errno.h>
#include <fcntl.h>
#include <piracema/ckpt.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t told;

static void hear(int number) {
  (void)number;
  told = 1;
}

static void wait_until_let_go(void) {
  const char* const fifo = getenv("BREATHING_HOLD");
  int fd = -1;
  if (fifo == NULL) return;
  while ((fd = open(fifo, O_RDONLY)) < 0)
    if (errno != EINTR) abort();
  close(fd);
}

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  return (x ^ (x >> 27)) * 0x94D049BB133111EBu;
}

int main(int argc, char** argv) {
  int cycle, round, cycles, obeys;
  size_t count, i;
  uint64_t x = 1;
  if (argc < 4) return 2;
  cycles = atoi(argv[1]);
  count = ((size_t)atoi(argv[2]) << 20) / sizeof x;
  obeys = strcmp(argv[3], "obeys") == 0;
  signal(SIGUSR1, hear);
  for (cycle = 1; cycle <= cycles; ++cycle) {
    uint64_t* const memory = malloc(count * sizeof x);
    if (memory == NULL) return 1;
    for (i = 0; i < count; ++i) memory[i] = x = mix(x + i);
    printf("%d full\n", cycle);
    fflush(stdout);
    if (cycle == 1) wait_until_let_go();
    for (round = 0; round < 3; ++round)
      for (i = 0; i < count; ++i) x = mix(x ^ memory[i]);
    free(memory);
    printf("%d %016llx\n", cycle, (unsigned long long)x);
    fflush(stdout);
    if (strcmp(argv[3], "says") == 0 || (obeys && told)) {
      const int answer = piracema_ckpt_good_moment();
      if (answer == PIRACEMA_CKPT_SAVED) fprintf(stderr, "saved in cycle %d\n", cycle);
      if (answer == PIRACEMA_CKPT_RESTORED) fprintf(stderr, "restored in cycle %d\n", cycle);
      if (answer == PIRACEMA_CKPT_FAILED) fprintf(stderr, "failed in cycle %d\n", cycle);
      if (answer != PIRACEMA_CKPT_NOTHING) told = 0;
    }
  }
  return 0;
}
