#pragma once

#include <piracema/error.h>

#include <string>

#include "ckpt/capsule/capsule_messages.h"
#include "ckpt/image/job_directory.h"
#include "forecast/store/store_watch.h"

namespace piracema::ckpt {

/// How a job is saved, one image at a time, and what is learnt of it.
class Saving {
 public:
  /// Images beyond the newest `keep` go; their memory is compressed if that is wanted.
  Saving(const JobDirectory& directory, const JobFile& job, ImageStore& images, StoreWatch& store,
         std::size_t keep, bool compress)
      : directory_(directory),
        job_(job),
        images_(images),
        store_(store),
        keep_(keep),
        compress_(compress) {}

  /// The order that saves it, with a place for the image; `job` is the memory that it has.
  /// Errc::io.
  Result<Order> begin(bool stop, const JobMemory& job);

  /// It is saved: in words, such as "image 3, 25 MB, in 0.12 s, frozen for 90 ms".
  std::string end(const Report& report);
  /// It could not be.
  void fail() { store_.forget_dump(); }
  /// It was given up, for it took too long.
  void give_up() { store_.end_dump(true); }

  void prune();

 private:
  const JobDirectory& directory_;
  const JobFile& job_;
  ImageStore& images_;
  StoreWatch& store_;
  const std::size_t keep_;
  const bool compress_;
  ImageId image_ = 0;
};

}  // namespace piracema::ckpt
