#pragma once

#include <piracema/error.h>

#include <string>

#include "ckpt/capsule/capsule_messages.h"
#include "ckpt/image/job_directory.h"
#include "ckpt/keeper/keeper.h"
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

  /// The order that saves it, with a place for the image; `job` is the memory that it has, of which
  /// the image holds `bytes` at least. Older images go if it has no room beside them. Errc::failed
  /// if it has none all the same, Errc::io.
  Result<Order> begin(bool stop, const JobMemory& job, std::uint64_t bytes);

  /// It is saved.
  SavedImage end(const Report& report);
  /// It could not be: what there is of it goes.
  void fail();
  /// It was given up, for it took too long; likewise.
  void give_up();

  void prune();

 private:
  /// Whether images were dropped for it.
  Result<bool> find_room(std::uint64_t bytes);
  void drop_unfinished();

  const JobDirectory& directory_;
  const JobFile& job_;
  ImageStore& images_;
  StoreWatch& store_;
  const std::size_t keep_;
  const bool compress_;
  ImageId image_ = 0;
};

/// "image 3, 25 MB, in 0.12 s, frozen for 90 ms".
std::string text_of(const SavedImage& saved);

}  // namespace piracema::ckpt
