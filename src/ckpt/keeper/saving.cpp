#include "ckpt/keeper/saving.h"

#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>

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

Result<Done> Saving::find_room_in_store(std::uint64_t bytes) {
  const auto made = find_room(bytes);
  if (!made) return made.error();
  return Done{};
}

Result<Order> Saving::begin(bool stop, const JobMemory& job, std::uint64_t bytes, bool locally) {
  image_ = 0;
  began_ = now();
  is_local_ = local_ != nullptr && locally && !local_failed_;
  Result<Order> order = is_local_ ? begin_locally(bytes) : begin_in_store(job, bytes);
  if (!order && is_local_) {
    log(Level::warning,
        concat(order.error().message, ": the image is written straight to the store"));
    is_local_ = false;
    order = begin_in_store(job, bytes);
  }
  if (!order) return order;
  const JobDirectory& directory = is_local_ ? local_->directory() : directory_;
  order->kind = OrderKind::dump;
  order->parts = directory.parts_path(image_);
  order->log = concat(directory.log_path(), "/save-", image_ % logs_kept);
  order->stop = stop;
  order->compress = compress_;
  order->directory = directory.path();
  order->image = image_;
  order->job = job_.id;
  return order;
}

Result<Order> Saving::begin_in_store(const JobMemory& job, std::uint64_t bytes) {
  store_.begin_dump(job);
  ImageId least = 1;
  if (local_ != nullptr) {
    for (const Manifest& one : local_->whole()) least = one.image + 1;
  }
  // What was never completed goes, and then there may be room.
  auto image = images_.begin(least);
  if (!image) return image.error();
  image_ = *image;
  const auto made_room = find_room(bytes);
  if (!made_room) return made_room.error();
  // The place of this one has gone along with what was dropped.
  if (*made_room) image = images_.begin(least);
  if (!image) return image.error();
  image_ = *image;
  return Order{};
}

// The newest one there may go if the store has it as well.
Result<Order> Saving::begin_locally(std::uint64_t bytes) {
  const auto all = images_.list();
  if (!all) return all.error();
  const std::vector<ImageId> good = good_images(*all);
  auto image = local_->images().begin(all->empty() ? 1 : all->back().image + 1);
  if (!image) return image.error();
  image_ = *image;
  const std::string& path = local_->directory().path();
  const std::uint64_t want = bytes + room_reserve;
  auto room = room_in(path);
  if (room && *room < want && !good.empty()) {
    for (const Manifest& one : local_->whole()) {
      if (one.image > good.back()) continue;
      if (auto dropped = local_->images().drop(one.image); !dropped) return dropped.error();
    }
    room = room_in(path);
  }
  if (room && *room >= want) return Order{};
  drop_unfinished();
  if (!room) return room.error();
  return Error{Errc::failed, concat(path, ": no space for an image: want ",
                                    human_bytes(static_cast<double>(want)), " at least, found ",
                                    human_bytes(static_cast<double>(*room)))};
}

SavedImage Saving::end(const Report& report) {
  SavedImage saved{.image = image_,
                   .took = is_local_ ? now() - began_ : from_seconds(store_.dump_time()),
                   .frozen = std::chrono::microseconds(report.frozen_us),
                   .local = is_local_};
  if (!is_local_) {
    store_.end_dump();
    local_failed_ = false;
  }
  if (const auto all = images().list(); all && !all->empty() && all->back().manifest) {
    saved.bytes = all->back().manifest->bytes();
  }
  return saved;
}

std::string text_of(const SavedImage& saved) {
  return concat("image ", saved.image, ", ", human_bytes(static_cast<double>(saved.bytes)), ", in ",
                human_seconds(to_seconds(saved.took)), ", frozen for ",
                human_seconds(to_seconds(saved.frozen)),
                saved.local ? ", on this node's disk and not yet in the store" : "");
}

// At once: until the next one they would take room from the job's own output.
void Saving::drop_unfinished() {
  if (image_ == 0) return;
  if (auto dropped = images().drop_unfinished(image_); !dropped) {
    log(Level::warning, dropped.error().message);
  }
}

void Saving::fail() {
  if (!is_local_) store_.forget_dump();
  drop_unfinished();
}

// criu and our hook give the system's reason; what is wrong with the job is wrong in the store,
// too.
bool Saving::goes_to_store_next(const std::string& why) {
  if (!is_local_) return false;
  for (const int broken : {ENOSPC, EDQUOT, EIO, EROFS, ENOENT, ENODEV}) {
    if (why.find(std::strerror(broken)) != why.npos) local_failed_ = true;
  }
  return local_failed_;
}

void Saving::give_up() {
  if (!is_local_) store_.end_dump(true);
  drop_unfinished();
}

void Saving::prune() {
  if (auto pruned = images_.prune(keep_, job_.doubted); !pruned)
    log(Level::warning, pruned.error().message);
}

}  // namespace piracema::ckpt
