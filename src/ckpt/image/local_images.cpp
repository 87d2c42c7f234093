#include "ckpt/image/local_images.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/hex.h"
#include "base/text.h"
#include "ckpt/image/place_mark.h"

namespace piracema::ckpt {

namespace {

std::string place_of(const std::string& directory, std::uint64_t job) {
  return concat(directory, "/", store::to_hex(job));
}

}  // namespace

std::vector<Manifest> whole_images(ImageStore& images, std::uint64_t job) {
  std::vector<Manifest> whole;
  const auto all = images.list();
  if (!all) return whole;
  for (const auto& one : *all) {
    if (one.manifest && one.manifest->job == job) whole.push_back(*one.manifest);
  }
  return whole;
}

Result<std::unique_ptr<LocalImages>> LocalImages::open(const std::string& directory,
                                                       const JobFile& before, JobFile& job) {
  std::error_code why;
  std::filesystem::create_directories(directory, why);
  if (why) return Error{Errc::io, concat(directory, ": cannot make: ", why.message())};
  const std::string path = place_of(directory, job.id);
  auto place = JobDirectory::open(path);
  if (!place) return place.error();
  auto local = std::unique_ptr<LocalImages>(new LocalImages(*std::move(place), job.id));
  std::string mark = mark_of(path);
  if (mark.empty() || mark != before.local_mark || directory != before.local) {
    // They are gone before the job says that this is its place.
    if (auto cleared = local->images_.clear(); !cleared) return cleared.error();
    mark = draw_mark();
    if (auto done = write_mark(path, mark); !done) return done.error();
  }
  job.local = directory;
  job.local_mark = mark;
  return local;
}

std::vector<Manifest> LocalImages::whole() const { return whole_images(images_, job_); }

void LocalImages::remove() {
  // Manifests first: what is interrupted leaves nothing that looks whole.
  (void)images_.clear();
  std::error_code ignored;
  std::filesystem::remove_all(directory_->path(), ignored);
}

std::string local_place(const JobFile& job) { return place_of(job.local, job.id); }

std::vector<Manifest> look_at_local_images(const JobFile& job) {
  if (job.local.empty() || job.local_mark.empty()) return {};
  const std::string path = local_place(job);
  if (mark_of(path) != job.local_mark) return {};
  auto directory = JobDirectory::look(path);
  if (!directory) return {};
  ImageStore images(**directory);
  return whole_images(images, job.id);
}

void drop_local_images(const JobFile& job) {
  if (look_at_local_images(job).empty()) return;
  // Whoever has it open is a keeper of the same job elsewhere, which cannot be.
  JobFile same = job;
  if (auto local = LocalImages::open(job.local, job, same)) (*local)->remove();
}

std::optional<ImageId> image_to_copy(const std::vector<ImageId>& local, ImageId newest_in_store) {
  if (local.empty() || local.back() <= newest_in_store) return std::nullopt;
  return local.back();
}

std::vector<ImageId> local_images_to_drop(const std::vector<ImageId>& local,
                                          const std::vector<ImageId>& copied) {
  std::vector<ImageId> drop;
  for (std::size_t i = 0; i + 1 < local.size(); ++i) {
    if (std::ranges::find(copied, local[i]) == copied.end()) drop.push_back(local[i]);
  }
  return drop;
}

// A dump begins when what it takes at a quantile of some 99 % is left, so a little less is as
// planned.
bool is_saved_locally(bool stops, std::optional<Time> left, Time store_takes) {
  return !stops || (left && *left < store_takes * 3 / 4);
}

}  // namespace piracema::ckpt
