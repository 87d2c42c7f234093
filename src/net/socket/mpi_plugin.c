/* The plug-in: compiled once with each MPI that is installed, by that MPI's own mpicc. */
#include "net/socket/mpi_plugin.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Ours alone: the program may use MPI itself. */
static MPI_Comm comm;
static int begun_by_us;

static int begin(int* rank, int* size, int* one_host, char* why, int why_bytes) {
  int is_begun = 0, level = MPI_THREAD_SINGLE, neighbours = 0;
  MPI_Comm host;
  MPI_Initialized(&is_begun);
  if (is_begun) {
    MPI_Query_thread(&level);
  } else {
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    begun_by_us = 1;
  }
  if (level < MPI_THREAD_SERIALIZED) {
    snprintf(why, (size_t)why_bytes, "MPI: want MPI_THREAD_SERIALIZED at least, found level %d",
             level);
    return -1;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, rank);
  MPI_Comm_size(comm, size);
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &neighbours);
  MPI_Comm_free(&host);
  /* Equal everywhere: the smallest of all hosts counts. */
  MPI_Allreduce(MPI_IN_PLACE, &neighbours, 1, MPI_INT, MPI_MIN, comm);
  *one_host = neighbours == *size;
  return 0;
}

static void broadcast(void* bytes, int count) { MPI_Bcast(bytes, count, MPI_BYTE, 0, comm); }

static void* start_send(const void* bytes, int count, int to, int tag) {
  MPI_Request* request = malloc(sizeof *request);
  if (request == NULL) abort();
  MPI_Isend(bytes, count, MPI_BYTE, to, tag, comm, request);
  return request;
}

static int is_sent(void* handle) {
  int done = 0;
  MPI_Test(handle, &done, MPI_STATUS_IGNORE);
  if (done) free(handle);
  return done;
}

static int probe(int* from, int* tag, int* count) {
  int found = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, &status);
  if (!found) return 0;
  *from = status.MPI_SOURCE;
  *tag = status.MPI_TAG;
  MPI_Get_count(&status, MPI_BYTE, count);
  return 1;
}

static void receive(void* bytes, int count, int from, int tag) {
  MPI_Recv(bytes, count, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
}

static void end(void) {
  MPI_Comm_free(&comm);
  if (begun_by_us) MPI_Finalize();
}

static void end_all(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

const struct PiracemaMpi* piracema_mpi(void) {
  static const struct PiracemaMpi all = {
      PIRACEMA_MPI_VERSION, begin, broadcast, start_send, is_sent, probe, receive, end, end_all};
  return &all;
}
