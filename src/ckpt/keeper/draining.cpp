#include "ckpt/keeper/draining.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/retry.h"
#include "base/text.h"
#include "ckpt/image/image_copy.h"
#include "os/helper.h"
#include "store/disk/files.h"

namespace piracema::ckpt {

namespace {

// A store that is full or gone is asked again, less and less often.
constexpr Time wait_least = std::chrono::seconds(1);
constexpr Time wait_most = std::chrono::minutes(2);

constexpr int end_wait_ms = 200;

constexpr std::uint64_t output_bytes_max = 64 << 10;

std::string manifest_path(const JobDirectory& directory, ImageId image) {
  return concat(directory.path(), "/images/", ImageStore::manifest_name(image));
}

Result<Done> adopt_in(JobDirectory& store, const Manifest& manifest) {
  if (auto adopted = store.adopt_parts(manifest.image); !adopted) return adopted;
  auto published = ImageStore(store).adopt(manifest);
  if (!published) return published.error();
  return Done{};
}

Result<ImageId> newest_in(JobDirectory& store) {
  const auto all = ImageStore(store).list();
  if (!all) return all.error();
  const auto good = good_images(*all);
  return good.empty() ? ImageId{0} : good.back();
}

std::vector<ImageId> numbers_of(const std::vector<Manifest>& manifests) {
  std::vector<ImageId> numbers;
  for (const Manifest& one : manifests) numbers.push_back(one.image);
  return numbers;
}

}  // namespace

Draining::Draining(net::Poller& poller, std::string program, LocalImages& local,
                   JobDirectory& store, Calls calls)
    : poller_(poller),
      program_(std::move(program)),
      local_(local),
      store_(store),
      calls_(std::move(calls)) {
  (void)store_.remove_copies();
}

std::vector<ImageId> Draining::local() const { return numbers_of(local_.whole()); }

Result<ImageId> Draining::newest_in_store() const { return newest_in(store_); }

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
  if (copy_ || again_ || is_paused_) return;
  const std::vector<Manifest> whole = local_.whole();
  const auto image = image_to_copy(numbers_of(whole), *newest);
  if (!image) return;
  const auto manifest = std::ranges::find(whole, *image, &Manifest::image);
  if (auto begun = begin(*manifest); !begun) failed(*image, begun.error().message);
}

void Draining::drop_older() {
  const auto copied = copy_ ? std::optional(copy_->manifest.image) : std::nullopt;
  for (const ImageId image : local_images_to_drop(local(), copied)) {
    if (auto dropped = local_.images().drop(image); !dropped)
      log(Level::warning, dropped.error().message);
  }
}

Result<Done> Draining::begin(const Manifest& manifest) {
  if (auto room = calls_.find_room(manifest.bytes()); !room) return room;
  if (auto removed = store_.remove_copies(); !removed) return removed;
  const auto place = store_.make_copy_place(manifest.image);
  if (!place) return place.error();
  const std::string from = local_.directory().parts_path(manifest.image);
  ::unlink(output().c_str());
  auto process =
      start_own_process({.words = copy_command(program_, from, *place,
                                               manifest_path(local_.directory(), manifest.image)),
                         .working_directory = "/",
                         .output = output(),
                         .errors = output()});
  if (!process) return process.error();
  copy_ = Copy{manifest, *std::move(process), now()};
  poller_.watch(copy_->process.handle.get(), EPOLLIN, [this](std::uint32_t) { ended(); });
  return Done{};
}

std::string Draining::output() const { return local_.directory().log_path() + "/copy"; }

void Draining::ended() {
  poller_.forget(copy_->process.handle.get());
  const Copy copy = *std::exchange(copy_, std::nullopt);
  int status = 0;
  (void)retry([&] { return ::waitpid(copy.process.pid, &status, 0); });
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const auto text = store::read_file(output(), output_bytes_max);
    const std::string why =
        text ? last_line(std::string(reinterpret_cast<const char*>(text->data()), text->size()))
             : "";
    (void)store_.remove_copies();
    return failed(copy.manifest.image, why.empty() ? "its copying was ended" : why);
  }
  if (auto adopted = adopt_in(store_, copy.manifest); !adopted) {
    (void)store_.remove_copies();
    return failed(copy.manifest.image, adopted.error().message);
  }
  wait_ = {};
  said_.clear();
  calls_.drained(copy.manifest.image, now() - copy.began);
  look();
}

// The job goes on, and so does the next one on this node from here.
void Draining::failed(ImageId image, const std::string& why) {
  if (why != said_) {
    log(Level::warning,
        concat("image ", image, " is on this node's disk alone, and is tried again: ", why));
  }
  said_ = why;
  wait_ = std::clamp(2 * wait_, wait_least, wait_most);
  again_ = poller_.at(now() + wait_, [this] {
    again_.reset();
    look();
  });
}

void Draining::pause(bool still) {
  is_paused_ = still;
  if (copy_) ::kill(copy_->process.pid, still ? SIGSTOP : SIGCONT);
}

void Draining::end_copy() {
  if (!copy_) return;
  poller_.forget(copy_->process.handle.get());
  ::kill(copy_->process.pid, SIGKILL);
  pollfd end{copy_->process.handle.get(), POLLIN, 0};
  // A store that answers nobody holds it, and is not waited for: it ends by itself, and what it has
  // written goes with the next copy.
  if (retry([&] { return ::poll(&end, 1, end_wait_ms); }) > 0) {
    (void)::waitpid(copy_->process.pid, nullptr, 0);
    (void)store_.remove_copies();
  }
  copy_.reset();
}

void Draining::stop() {
  if (again_) poller_.cancel(*again_);
  again_.reset();
  end_copy();
}

Result<std::optional<ImageId>> bring_to_store(const JobFile& job, JobDirectory& store) {
  const std::vector<Manifest> whole = look_at_local_images(job);
  const auto newest = newest_in(store);
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
  if (auto adopted = adopt_in(store, *manifest); !adopted) return adopted.error();
  return image;
}

}  // namespace piracema::ckpt
