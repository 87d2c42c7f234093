#pragma once

#include <piracema/error.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "ckpt/capsule/capsule_messages.h"
#include "ckpt/image/job_directory.h"
#include "ckpt/image/job_output.h"
#include "ckpt/image/local_images.h"
#include "ckpt/keeper/workplace.h"

namespace piracema::ckpt {

/// How a job is launched: from one of its images, whose files are rolled back here, or from the
/// beginning. Nothing is changed before all of the image is known to be good, and nothing of the
/// job runs: where there is nothing to change, criu reads the memory while that is still being
/// checked.
class Restart {
 public:
  /// Where the place is several hosts, each rolls back its own files. `local`: images on a disk of
  /// this node's own; null if there are none.
  Restart(const JobDirectory& directory, const JobFile& job, ImageStore& store, LocalImages* local,
          JobOutput& output, Workplace& place)
      : directory_(directory),
        job_(job),
        store_(store),
        local_(local),
        output_(output),
        place_(place) {}

  /// Into the place, by the newest image but `attempt`; what becomes of it the place reports.
  /// Errc::lost if no image is left of those that there are, Errc::corrupt for one that is damaged
  /// or files that do not lead back to it, Errc::io; then the place may have been killed, and
  /// reports nothing, and an older one may do if `has_more`.
  Result<Done> launch(std::size_t attempt);

  /// Of the last `launch`: the image that it goes on from; none: from the beginning.
  std::optional<ImageId> image() const { return image_; }
  /// It lies on this node's disk; the store may have it as well.
  bool is_local() const { return local_ != nullptr && from_ == &local_->images(); }
  bool has_more() const { return has_more_; }

 private:
  /// An image in one of the places that may have it.
  struct Found {
    Manifest manifest;
    ImageStore* images = nullptr;
    const JobDirectory* directory = nullptr;
  };
  Result<Order> prepare(std::size_t attempt);
  /// Newest first, those whose manifest is of this job and good, and that are not passed by; what
  /// is on this node's disk before what the store has of the same number.
  Result<std::vector<Found>> images();
  std::vector<Found> worth_trying(const std::vector<Found>& good) const;
  Result<Order> from_beginning(Order order);
  Result<Order> from_image(Order order, const Found& found);
  Result<Done> roll_back_here(const Manifest& manifest, Order& order);
  Result<Done> cut_output_of_hosts(const Manifest& manifest);

  const JobDirectory& directory_;
  const JobFile& job_;
  ImageStore& store_;
  LocalImages* const local_;
  JobOutput& output_;
  Workplace& place_;
  /// Those parts of the image that criu reads while they are checked.
  std::optional<Manifest> unchecked_;
  std::optional<ImageId> image_;
  ImageStore* from_ = nullptr;
  bool has_more_ = false;
};

}  // namespace piracema::ckpt
