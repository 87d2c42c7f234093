#pragma once

#include <piracema/error.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "ckpt/capsule_messages.h"
#include "ckpt/job_directory.h"
#include "ckpt/job_output.h"

namespace piracema::ckpt {

/// How a job is launched: from one of its images, whose files are rolled back here, or from the
/// beginning.
class Restart {
 public:
  /// `several`: on several hosts, each of which rolls back its own files.
  Restart(const JobDirectory& directory, const JobFile& job, ImageStore& store, JobOutput& output,
          bool several)
      : directory_(directory), job_(job), store_(store), output_(output), several_(several) {}

  /// The order that launches it, by the newest image but `attempt`. Errc::lost if no image is left
  /// of those that there are, Errc::corrupt for one that is damaged or files that do not lead back
  /// to it, Errc::io; then an older one may do if `has_more`.
  Result<Order> prepare(std::size_t attempt);

  /// Of the last `prepare`: the image that it goes on from; none: from the beginning.
  std::optional<ImageId> image() const { return image_; }
  bool has_more() const { return has_more_; }

 private:
  /// Newest first, those whose manifest is of this job and good.
  Result<std::vector<Manifest>> images();
  Result<Order> from_beginning(Order order);
  Result<Order> from_image(Order order, const Manifest& manifest);
  Result<Done> roll_back_here(const Manifest& manifest, Order& order);
  Result<Done> cut_output_of_hosts(const Manifest& manifest);

  const JobDirectory& directory_;
  const JobFile& job_;
  ImageStore& store_;
  JobOutput& output_;
  const bool several_;
  std::optional<ImageId> image_;
  bool has_more_ = false;
};

}  // namespace piracema::ckpt
