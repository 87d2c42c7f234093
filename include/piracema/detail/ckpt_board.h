#pragma once

/// How <piracema/ckpt.h> reaches the capsule of a job: by a board, a small file that the capsule
/// writes and programs map, and a socket by which they say that there is something to be done.
/// No descriptor stays open, so that there is nothing that an image could not hold: the board is in
/// it as a program's own shared memory is. C99, as what includes it.

#include <stdint.h>

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#endif

/// The layout of the board that this header knows. A program in an image keeps the header that it
/// was compiled with.
#define PIRACEMA_CKPT_BOARD_VERSION 1
/// The variable that names the board's file to the programs of a job.
#define PIRACEMA_CKPT_BOARD_VARIABLE "PIRACEMA_CKPT_BOARD"
/// The capsule's socket for datagrams, of the job's own network namespace; it has no file.
#define PIRACEMA_CKPT_BOARD_SOCKET "piracema ckpt board"

#ifdef __cplusplus
extern "C" {
#endif

struct piracema_ckpt_board {
  uint32_t version;
  /// 1 while an image waits for a good moment.
  uint32_t wanted;
  /// How many answers there were: callers wait for the next one (futex(2)).
  uint32_t answered;
  /// The last one.
  int32_t answer;
};

#ifdef __linux__

#ifndef __cplusplus
/* Not declared in C without extensions. */
extern long syscall(long number, ...);
#endif

/* Mapped by the first call and for good; null if there is none. */
__attribute__((unused)) static struct piracema_ckpt_board* piracema_ckpt_board_find(void) {
  static struct piracema_ckpt_board* board;
  static int looked;
  struct piracema_ckpt_board *found = 0, *none = 0;
  struct stat status;
  const char* file;
  int fd;
  if (__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) return __atomic_load_n(&board, __ATOMIC_ACQUIRE);
  file = getenv(PIRACEMA_CKPT_BOARD_VARIABLE);
  fd = file ? open(file, O_RDWR) : -1;
  if (fd >= 0) {
    if (fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof *board) {
      void* const memory =
          mmap(0, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (memory != MAP_FAILED) found = (struct piracema_ckpt_board*)memory;
    }
    close(fd);
    if (found && found->version != PIRACEMA_CKPT_BOARD_VERSION) {
      munmap((void*)found, (size_t)status.st_size);
      found = 0;
    }
  }
  /* Another thread may have been faster. */
  if (found &&
      !__atomic_compare_exchange_n(&board, &none, found, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    munmap((void*)found, (size_t)status.st_size);
  __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
  return __atomic_load_n(&board, __ATOMIC_ACQUIRE);
}

/* Whether the capsule hears of it: a queue that is full is full of the same. */
__attribute__((unused)) static int piracema_ckpt_board_tell(void) {
  static const char name[] = PIRACEMA_CKPT_BOARD_SOCKET;
  struct sockaddr_un address;
  int fd, told;
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path + 1, name, sizeof name - 1);
  fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 0;
  told = sendto(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr*)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof name)) == 1 ||
         errno == EAGAIN;
  close(fd);
  return told;
}

/* Whether an image waits for a good moment. */
__attribute__((unused)) static int piracema_ckpt_board_wants(void) {
  const struct piracema_ckpt_board* const board = piracema_ckpt_board_find();
  return board && __atomic_load_n(&board->wanted, __ATOMIC_ACQUIRE) ? 1 : 0;
}

/* What the capsule answers if it wants to hear of a good moment, else `nothing`. */
__attribute__((unused)) static int piracema_ckpt_board_answer(int nothing) {
  struct piracema_ckpt_board* const board = piracema_ckpt_board_find();
  uint32_t before;
  if (!board) return nothing;
  /* First: what is wanted by then is answered after it, in this life or in the next one. */
  before = __atomic_load_n(&board->answered, __ATOMIC_ACQUIRE);
  if (!__atomic_load_n(&board->wanted, __ATOMIC_ACQUIRE)) return nothing;
  if (!piracema_ckpt_board_tell()) return nothing;
  while (__atomic_load_n(&board->answered, __ATOMIC_ACQUIRE) == before)
    (void)syscall(SYS_futex, &board->answered, FUTEX_WAIT, before, (void*)0, (void*)0, 0);
  return __atomic_load_n(&board->answer, __ATOMIC_ACQUIRE);
}

#else

__attribute__((unused)) static int piracema_ckpt_board_wants(void) { return 0; }
__attribute__((unused)) static int piracema_ckpt_board_answer(int nothing) { return nothing; }

#endif

#ifdef __cplusplus
}
#endif
