/* What the library wants of an MPI, and nothing of mpi.h: one plug-in for each family of MPI
 * libraries is compiled from mpi_plugin.c and loaded at run time (docs/design/011-transports.md).
 *
 * `begin` and `end` belong to the thread that calls `begin`, all between them to one thread at a
 * time. Errors of MPI end the process, and with it the world: one mpirun is one failure domain. */
#ifndef PIRACEMA_NET_MPI_PLUGIN_H
#define PIRACEMA_NET_MPI_PLUGIN_H

#define PIRACEMA_MPI_VERSION 2
#define PIRACEMA_MPI_SYMBOL "piracema_mpi"

#ifdef __cplusplus
extern "C" {
#endif

struct PiracemaMpi {
  int version;
  /* 0, or -1 and a line of text in `why`. `one_host`: all ranks share this host. */
  int (*begin)(int* rank, int* size, int* one_host, char* why, int why_bytes);
  /* Collective: rank 0's bytes to all. */
  void (*broadcast)(void* bytes, int count);
  /* Starts sending bytes that stay where they are until `is_sent`. */
  void* (*send)(const void* bytes, int count, int to, int tag);
  /* 1 once they may be overwritten; the handle is then gone. */
  int (*is_sent)(void* handle);
  /* 1 when a message is there, to be taken by `receive` next. */
  int (*probe)(int* from, int* tag, int* count);
  void (*receive)(void* bytes, int count, int from, int tag);
  /* Collective. */
  void (*end)(void);
  /* Ends all ranks. */
  void (*abort)(int code);
};

const struct PiracemaMpi* piracema_mpi(void);

#ifdef __cplusplus
}
#endif

#endif
