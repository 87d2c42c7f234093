#pragma once

#include <piracema/error.h>

#include <string>

#include "ckpt/capsule/capsule_messages.h"
#include "ckpt/image/job_directory.h"
#include "ckpt/image/local_images.h"
#include "ckpt/keeper/keeper.h"
#include "forecast/store/store_watch.h"

namespace piracema::ckpt {

/// How a job is saved, one image at a time, and what is learnt of it.
class Saving {
 public:
  /// Images beyond the newest `keep` go; their memory is compressed if that is wanted. `local`: a
  /// disk of this node's own; null if there is none.
  Saving(const JobDirectory& directory, const JobFile& job, ImageStore& images, StoreWatch& store,
         LocalImages* local, std::size_t keep, bool compress)
      : directory_(directory),
        job_(job),
        images_(images),
        store_(store),
        local_(local),
        keep_(keep),
        compress_(compress) {}

  /// The order that saves it, with a place for the image; `job` is the memory that it has, of which
  /// the image holds `bytes` at least. Older images go if it has no room beside them. `locally`: on
  /// this node's disk, if that has room and took the one before. Errc::failed if there is no room
  /// all the same, Errc::io.
  Result<Order> begin(bool stop, const JobMemory& job, std::uint64_t bytes, bool locally);
  /// Of the last `begin`: whether it is on this node's disk.
  bool is_local() const { return is_local_; }

  /// Room in the store for so many bytes: older images go if need be. Not while an image is being
  /// made there. Errc::failed, Errc::io.
  Result<Done> find_room_in_store(std::uint64_t bytes);

  /// It is saved.
  SavedImage end(const Report& report);
  /// It could not be: what there is of it goes.
  void fail();
  /// It could not be, and that is why: whether this node's disk is to blame, so that the next one
  /// is made in the store.
  bool goes_to_store_next(const std::string& why);
  /// It was given up, for it took too long; likewise.
  void give_up();

  void prune();

 private:
  /// Whether images were dropped for it.
  Result<bool> find_room(std::uint64_t bytes);
  void drop_unfinished();
  Result<Order> begin_locally(std::uint64_t bytes);
  Result<Order> begin_in_store(const JobMemory& job, std::uint64_t bytes);
  ImageStore& images() { return is_local_ ? local_->images() : images_; }

  const JobDirectory& directory_;
  const JobFile& job_;
  ImageStore& images_;
  StoreWatch& store_;
  LocalImages* const local_;
  const std::size_t keep_;
  const bool compress_;
  ImageId image_ = 0;
  Time began_{};
  bool is_local_ = false, local_failed_ = false;
};

/// "image 3, 25 MB, in 0.12 s, frozen for 90 ms".
std::string text_of(const SavedImage& saved);

}  // namespace piracema::ckpt
