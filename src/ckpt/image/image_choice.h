#pragma once

#include <optional>
#include <vector>

#include "ckpt/image/manifest.h"

namespace piracema::ckpt {

// An image may be of a job that is just failing: one of its processes was killed, and the others
// have yet to notice. Whatever goes on from it fails, too. So an image from which a job has failed
// before another one was made is doubted: passed by while there is anything else to go on from.
// All of this is pure; images are numbers, oldest first.

/// From which to go on, newest first. Where all are doubted: from none, which is the beginning, if
/// the first image of all is still there; else from the oldest.
std::vector<ImageId> images_to_try(const std::vector<ImageId>& good,
                                   const std::vector<ImageId>& doubted);

/// Which ones are doubted when a job has failed that went on from `from`, or from the beginning.
std::vector<ImageId> doubted_after_failure(const std::vector<ImageId>& good,
                                           std::vector<ImageId> doubted,
                                           std::optional<ImageId> from);

/// Which ones are passed by so that a job goes on from `chosen`, which is good.
std::vector<ImageId> doubted_for_choice(const std::vector<ImageId>& good, ImageId chosen);

bool is_doubted(ImageId image, const std::vector<ImageId>& doubted);

}  // namespace piracema::ckpt
