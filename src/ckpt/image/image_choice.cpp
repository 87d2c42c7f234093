#include "ckpt/image/image_choice.h"

#include <algorithm>

namespace piracema::ckpt {

bool is_doubted(ImageId image, const std::vector<ImageId>& doubted) {
  return std::ranges::find(doubted, image) != doubted.end();
}

std::vector<ImageId> images_to_try(const std::vector<ImageId>& good,
                                   const std::vector<ImageId>& doubted) {
  std::vector<ImageId> trusted;
  for (const ImageId image : good) {
    if (!is_doubted(image, doubted)) trusted.insert(trusted.begin(), image);
  }
  // Image 1 was made after the beginning and nothing else: to begin again costs no more than to go
  // back by one image. Of a later one nobody knows how much was done before it.
  if (trusted.empty() && !good.empty() && good.front() > 1) trusted = {good.front()};
  return trusted;
}

std::vector<ImageId> doubted_after_failure(const std::vector<ImageId>& good,
                                           std::vector<ImageId> doubted,
                                           std::optional<ImageId> from) {
  std::erase_if(doubted, [&](ImageId image) { return !std::ranges::binary_search(good, image); });
  const bool newer_came = std::ranges::any_of(
      good, [&](ImageId image) { return from && image > *from && !is_doubted(image, doubted); });
  if (from && !newer_came && !is_doubted(*from, doubted)) doubted.push_back(*from);
  std::ranges::sort(doubted);
  return doubted;
}

std::vector<ImageId> doubted_for_choice(const std::vector<ImageId>& good, ImageId chosen) {
  std::vector<ImageId> newer;
  std::ranges::copy_if(good, std::back_inserter(newer),
                       [&](ImageId image) { return image > chosen; });
  return newer;
}

}  // namespace piracema::ckpt
