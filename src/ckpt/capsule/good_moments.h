#pragma once

#include <piracema/error.h>

#include <utility>

#include "base/fd.h"

/// How the programs of a capsule say that they are small: the other end of <piracema/ckpt.h>, which
/// the first process of the capsule has.
namespace piracema::ckpt {

/// The file by which programs find it, as PIRACEMA_CKPT_BOARD; in the job's own shared memory, and
/// so in its images.
constexpr const char* good_moments_file = "/dev/shm/piracema-ckpt";

class GoodMoments {
 public:
  /// Once /dev/shm is the capsule's own. Errc::io.
  static Result<GoodMoments> open();
  GoodMoments(GoodMoments&& other) noexcept;
  GoodMoments& operator=(GoodMoments&& other) noexcept;
  ~GoodMoments();

  /// Readable when there is something to `hear`.
  int watched() const { return socket_.get(); }
  /// Whether a good moment was said while an image waits for one.
  bool hear();

  /// An image waits for one from now on.
  void want();
  /// None does any more, and whoever waits goes on with this answer. Nothing if none did.
  void answer(int result);
  /// The job's shared memory is that of an image: all that waited when it was made go on from it.
  /// Errc::io.
  Result<Done> restored();

 private:
  explicit GoodMoments(Fd socket) : socket_(std::move(socket)) {}
  Result<Done> map();
  void unmap();
  void forget_what_was_said();
  void say(int result);

  Fd socket_;
  /// The file, mapped.
  void* board_ = nullptr;
};

}  // namespace piracema::ckpt
