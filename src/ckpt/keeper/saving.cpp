#include "ckpt/keeper/saving.h"

#include <sys/statvfs.h>

#include "base/log.h"
#include "base/text.h"

namespace piracema::ckpt {

namespace {

// Logs are written again after so many images.
constexpr ImageId logs_kept = 8;

// A job that is saved writes to the same store meanwhile.
constexpr std::uint64_t room_reserve = std::uint64_t{16} << 20;

Result<std::uint64_t> room_in(const std::string& path) {
  struct statvfs room {};
  if (::statvfs(path.c_str(), &room) != 0) return Error{Errc::io, with_errno(path)};
  return std::uint64_t{room.f_bavail} * room.f_frsize;
}

}  // namespace

// Found out before the job stands still for an image that has no room.
Result<bool> Saving::find_room(std::uint64_t bytes) {
  const std::uint64_t want = bytes + room_reserve;
  const auto room = room_in(directory_.path());
  if (!room) return room.error();
  if (*room >= want) return false;
  const auto all = images_.list();
  if (!all) return all.error();
  std::uint64_t older = 0;
  for (std::size_t i = 0; i + 1 < all->size(); ++i) {
    if ((*all)[i].manifest) older += (*all)[i].manifest->bytes();
  }
  if (*room + older < want) {
    return Error{Errc::failed, concat(directory_.path(), ": no space for an image: want ",
                                      human_bytes(static_cast<double>(want)), " at least, found ",
                                      human_bytes(static_cast<double>(*room)))};
  }
  log(Level::warning,
      concat(directory_.path(), ": no space for more images: only the newest one is kept"));
  if (auto pruned = images_.prune(1, job_.doubted); !pruned) return pruned.error();
  return true;
}

Result<Order> Saving::begin(bool stop, const JobMemory& job, std::uint64_t bytes) {
  store_.begin_dump(job);
  image_ = 0;
  // What was never completed goes, and then there may be room.
  auto image = images_.begin();
  if (!image) return image.error();
  image_ = *image;
  const auto made_room = find_room(bytes);
  if (!made_room) return made_room.error();
  // The place of this one has gone along with what was dropped.
  if (*made_room) image = images_.begin();
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

SavedImage Saving::end(const Report& report) {
  SavedImage saved{.image = image_,
                   .took = from_seconds(store_.dump_time()),
                   .frozen = std::chrono::microseconds(report.frozen_us)};
  store_.end_dump();
  if (const auto all = images_.list(); all && !all->empty() && all->back().manifest) {
    saved.bytes = all->back().manifest->bytes();
  }
  return saved;
}

std::string text_of(const SavedImage& saved) {
  return concat("image ", saved.image, ", ", human_bytes(static_cast<double>(saved.bytes)), ", in ",
                human_seconds(to_seconds(saved.took)), ", frozen for ",
                human_seconds(to_seconds(saved.frozen)));
}

// At once: until the next one they would take room from the job's own output.
void Saving::drop_unfinished() {
  if (image_ == 0) return;
  if (auto dropped = images_.drop_unfinished(image_); !dropped) {
    log(Level::warning, dropped.error().message);
  }
}

void Saving::fail() {
  store_.forget_dump();
  drop_unfinished();
}

void Saving::give_up() {
  store_.end_dump(true);
  drop_unfinished();
}

void Saving::prune() {
  if (auto pruned = images_.prune(keep_, job_.doubted); !pruned)
    log(Level::warning, pruned.error().message);
}

}  // namespace piracema::ckpt
