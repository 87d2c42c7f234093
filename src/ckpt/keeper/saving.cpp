#include "ckpt/keeper/saving.h"

#include "base/log.h"
#include "base/text.h"

namespace piracema::ckpt {

namespace {

// Logs are written again after so many images.
constexpr ImageId logs_kept = 8;

}  // namespace

Result<Order> Saving::begin(bool stop, const JobMemory& job) {
  store_.begin_dump(job);
  const auto image = images_.begin();
  if (!image) return image.error();
  image_ = *image;
  return Order{.kind = OrderKind::dump,
               .parts = directory_.parts_path(image_),
               .log = concat(directory_.log_path(), "/save-", image_ % logs_kept),
               .stop = stop,
               .compress = compress_,
               .directory = directory_.path(),
               .image = image_,
               .job = job_.id};
}

std::string Saving::end(const Report& report) {
  const double seconds = store_.dump_time();
  store_.end_dump();
  std::uint64_t bytes = 0;
  if (const auto all = images_.list(); all && !all->empty() && all->back().manifest) {
    bytes = all->back().manifest->bytes();
  }
  return concat("image ", image_, ", ", human_bytes(static_cast<double>(bytes)), ", in ",
                human_seconds(seconds), ", frozen for ",
                human_seconds(static_cast<double>(report.frozen_us) * 1e-6));
}

void Saving::prune() {
  if (auto pruned = images_.prune(keep_); !pruned) log(Level::warning, pruned.error().message);
}

}  // namespace piracema::ckpt
