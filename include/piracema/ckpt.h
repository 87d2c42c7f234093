#pragma once

#include <piracema/detail/ckpt_board.h>

/// What a program may say to `piracema ckpt`, which saves programs that know nothing of it: that it
/// is small at the moment. For C from C99 on and for C++, without a library. A program that does
/// not run under `piracema ckpt`, or on another system than Linux, may say the same: nothing
/// happens then.
///
/// For Fortran, Python and others: one C file that defines PIRACEMA_CKPT_DEFINE before it includes
/// this header has the functions for all to link with.

#ifdef PIRACEMA_CKPT_DEFINE
#define PIRACEMA_CKPT_FUNCTION
#else
#define PIRACEMA_CKPT_FUNCTION __attribute__((unused)) static
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// What has become of a good moment.
enum piracema_ckpt_result {
  /// No image was wanted, or none is any more.
  PIRACEMA_CKPT_NOTHING = 0,
  /// An image has the program as it is now. It is synced while the program goes on, and counts from
  /// then on; if that fails the keeper of the job says so.
  PIRACEMA_CKPT_SAVED = 1,
  /// The program goes on from an image that was made in this call: at another time, and maybe on
  /// another machine.
  PIRACEMA_CKPT_RESTORED = 2,
  /// An image was wanted and could not be made; the keeper of the job says why.
  PIRACEMA_CKPT_FAILED = -1
};

/// Whether an image waits for a good moment: 1 or 0. It costs a look into memory. For programs that
/// free memory only if that is of use.
PIRACEMA_CKPT_FUNCTION int piracema_ckpt_wanted(void);

/// Says that an image that is made now is a small one, as buffers are freed or a step of time is
/// over. If one waits for that (`piracema ckpt run --good-moment-within`) it is made before this
/// returns, and the caller stands still meanwhile; else it costs a look into memory. Gives a
/// piracema_ckpt_result. Any thread of any process of the job may call it, more than one at a time,
/// but no signal handler.
///
/// An image has all processes of a job, and one of them is enough to say it. Of an MPI program that
/// is rank 0, when all ranks have freed what they can. Ranks do not learn at the same time that an
/// image waits, so that rank 0 tells the others:
///
///     int wanted = rank == 0 && piracema_ckpt_wanted();
///     MPI_Bcast(&wanted, 1, MPI_INT, 0, MPI_COMM_WORLD);
///     if (wanted) {
///       free_buffers();
///       MPI_Barrier(MPI_COMM_WORLD);
///       if (rank == 0) piracema_ckpt_good_moment();
///       MPI_Barrier(MPI_COMM_WORLD);
///     }
PIRACEMA_CKPT_FUNCTION int piracema_ckpt_good_moment(void);

PIRACEMA_CKPT_FUNCTION int piracema_ckpt_wanted(void) { return piracema_ckpt_board_wants(); }

PIRACEMA_CKPT_FUNCTION int piracema_ckpt_good_moment(void) {
  return piracema_ckpt_board_answer(PIRACEMA_CKPT_NOTHING);
}

#ifdef __cplusplus
}
#endif
