#include "ckpt/keeper/draining.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "ckpt/image/image_copy.h"

namespace piracema::ckpt {

namespace {

std::vector<ImageId> numbers_of(const std::vector<Manifest>& manifests) {
  std::vector<ImageId> numbers;
  for (const Manifest& one : manifests) numbers.push_back(one.image);
  return numbers;
}

}  // namespace

Draining::Draining(net::Poller& poller, std::string program, LocalImages& local,
                   JobDirectory& store, Calls calls)
    : program_(std::move(program)),
      local_(local),
      store_(store),
      calls_(std::move(calls)),
      process_(poller, local.directory().log_path() + "/copy", [this] { look(); }) {
  (void)store_.remove_copies();
}

std::vector<ImageId> Draining::local() const { return numbers_of(local_.whole()); }

Result<ImageId> Draining::newest_in_store() const {
  ImageStore images(store_);
  return newest_image(images);
}

std::optional<ImageId> Draining::waiting() const {
  const auto newest = newest_in_store();
  return image_to_copy(local(), newest ? *newest : 0);
}

void Draining::look() {
  drop_older();
  const auto newest = newest_in_store();
  if (!newest) return;
  // What is older than what the store has is of no use any more.
  if (copy_ && copy_->manifest.image <= *newest) end_copy();
  if (!process_.may_begin() || is_paused_) return;
  const std::vector<Manifest> whole = local_.whole();
  const auto image = image_to_copy(numbers_of(whole), *newest);
  if (!image) return;
  const auto manifest = std::ranges::find(whole, *image, &Manifest::image);
  if (auto begun = begin(*manifest); !begun) failed(*image, begun.error().message);
}

void Draining::drop_older() {
  std::vector<ImageId> in_use;
  if (copy_) in_use.push_back(copy_->manifest.image);
  if (const auto other = calls_.in_use_elsewhere()) in_use.push_back(*other);
  for (const ImageId image : local_images_to_drop(local(), in_use)) {
    if (auto dropped = local_.images().drop(image); !dropped)
      log(Level::warning, dropped.error().message);
  }
}

Result<Done> Draining::begin(const Manifest& manifest) {
  if (auto room = calls_.find_room(manifest.bytes()); !room) return room;
  if (auto removed = store_.remove_copies(); !removed) return removed;
  const auto place = store_.make_copy_place(manifest.image);
  if (!place) return place.error();
  const JobDirectory& from = local_.directory();
  const auto words = copy_command(program_, from.parts_path(manifest.image), *place,
                                  from.manifest_path(manifest.image));
  if (auto begun = process_.begin(words, [this](const Result<Done>& done) { ended(done); });
      !begun) {
    return begun;
  }
  copy_ = Copy{manifest, now()};
  return Done{};
}

void Draining::ended(const Result<Done>& done) {
  const Copy copy = *std::exchange(copy_, std::nullopt);
  const auto adopted = done ? adopt_copy(store_, copy.manifest) : done;
  if (!adopted) {
    (void)store_.remove_copies();
    return failed(copy.manifest.image, adopted.error().message);
  }
  process_.succeeded();
  calls_.drained(copy.manifest.image, now() - copy.began);
  look();
}

// The job goes on, and so does the next one on this node from here.
void Draining::failed(ImageId image, const std::string& why) {
  if (process_.failed(why)) {
    log(Level::warning,
        concat("image ", image, " is not in the store yet, and is tried again: ", why));
  }
}

void Draining::pause(bool still) {
  is_paused_ = still;
  process_.hold(still);
}

// What a copier that has not ended yet has written goes with the next copy.
void Draining::end_copy() {
  if (!copy_) return;
  if (process_.kill()) (void)store_.remove_copies();
  copy_.reset();
}

void Draining::stop() {
  end_copy();
  process_.stop();
}

Result<std::optional<ImageId>> bring_to_store(const JobFile& job, JobDirectory& store) {
  const std::vector<Manifest> whole = look_at_local_images(job);
  ImageStore images(store);
  const auto newest = newest_image(images);
  if (!newest) return newest.error();
  const auto image = image_to_copy(numbers_of(whole), *newest);
  if (!image) return std::optional<ImageId>();
  const auto manifest = std::ranges::find(whole, *image, &Manifest::image);
  const auto place = store.make_copy_place(*image);
  if (!place) return place.error();
  const auto local = JobDirectory::look(local_place(job));
  if (!local) return local.error();
  if (auto copied = copy_image((*local)->parts_path(*image), *place, *manifest); !copied) {
    (void)store.remove_copies();
    return copied.error();
  }
  if (auto adopted = adopt_copy(store, *manifest); !adopted) return adopted.error();
  return image;
}

}  // namespace piracema::ckpt
