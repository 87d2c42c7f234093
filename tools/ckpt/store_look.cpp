#include "tools/ckpt/store_look.h"

#include <sys/statvfs.h>

#include <chrono>
#include <optional>
#include <thread>

#include "ckpt/image/image_store.h"
#include "ckpt/image/job_directory.h"

namespace piracema::tools {

namespace {

constexpr std::chrono::seconds store_interval{5};

std::optional<StoreSight> store_sight(const std::string& directory) {
  struct statvfs room {};
  if (::statvfs(directory.c_str(), &room) != 0) return std::nullopt;
  StoreSight sight{.free = std::uint64_t{room.f_bavail} * room.f_frsize,
                   .size = std::uint64_t{room.f_blocks} * room.f_frsize};
  const auto job = ckpt::JobDirectory::look(directory);
  if (!job) return std::nullopt;
  const auto images = ckpt::ImageStore(**job).list();
  if (!images) return std::nullopt;
  for (const auto& one : *images) {
    // One that the keeper drops meanwhile cannot be read.
    if (one.manifest) {
      sight.images.push_back({one.image, one.manifest->bytes(), one.manifest->created});
    }
  }
  sight.at = now();
  return sight;
}

}  // namespace

StoreLook::StoreLook(std::shared_ptr<KeeperBoard> board) {
  std::thread([wanted = wanted_, board = std::move(board)] { run(wanted, board); }).detach();
}

StoreLook::~StoreLook() {
  const std::lock_guard lock(wanted_->mutex);
  wanted_->is_over = true;
  wanted_->changed.notify_all();
}

void StoreLook::look_at(const std::string& directory, std::uint64_t images) {
  const std::lock_guard lock(wanted_->mutex);
  if (wanted_->directory == directory && wanted_->images == images) return;
  wanted_->directory = directory;
  wanted_->images = images;
  wanted_->is_due = true;
  wanted_->changed.notify_all();
}

void StoreLook::run(const std::shared_ptr<Wanted>& wanted,
                    const std::shared_ptr<KeeperBoard>& board) {
  std::unique_lock lock(wanted->mutex);
  while (!wanted->is_over) {
    wanted->is_due = false;
    if (const std::string directory = wanted->directory; !directory.empty()) {
      lock.unlock();
      if (auto sight = store_sight(directory)) board->show(*std::move(sight));
      lock.lock();
    }
    wanted->changed.wait_for(lock, store_interval,
                             [&] { return wanted->is_due || wanted->is_over; });
  }
}

}  // namespace piracema::tools
