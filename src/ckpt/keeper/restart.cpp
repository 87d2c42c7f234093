#include "ckpt/keeper/restart.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "ckpt/capsule/roll_back.h"
#include "ckpt/image/image_choice.h"
#include "ckpt/image/image_parts.h"

namespace piracema::ckpt {

namespace {

// "image 2 of 2026-03-01 04:05:06".
std::string name_of(const Manifest& manifest) {
  const auto created = static_cast<std::time_t>(manifest.created);
  std::tm local{};
  ::localtime_r(&created, &local);
  char text[32];
  std::strftime(text, sizeof text, "%F %T", &local);
  return concat("image ", manifest.image, " of ", std::string_view(text));
}

// Whoever reads it, or a file that the job has written and closed, sees that twice.
void say_what_is_taken_back(const std::string& to, std::uint64_t bytes) {
  if (bytes == 0) return;
  log(Level::warning, concat("the job goes back to ", to, ": ", bytes,
                             " bytes of its output are taken back and will be written again; files "
                             "that it had closed by then stay as they are"));
}

}  // namespace

Result<std::vector<Restart::Found>> Restart::images() {
  const auto all = store_.list();
  if (!all) return all.error();
  std::vector<Found> good;
  for (const auto& one : *all) {
    if (!one.manifest) {
      log(Level::warning,
          concat("image ", one.image, " is passed by: ", one.manifest.error().message));
    } else if (one.manifest->job != job_.id) {
      log(Level::warning, concat("image ", one.image, " is passed by: it is another job's"));
    } else {
      good.push_back({*one.manifest, &store_, &directory_});
    }
  }
  if (local_ != nullptr) {
    for (Manifest& one : local_->whole())
      good.push_back({std::move(one), &local_->images(), &local_->directory()});
  }
  std::ranges::stable_sort(good, {}, [](const Found& one) { return one.manifest.image; });
  if (good.empty() && !all->empty()) {
    return Error{Errc::lost, "no image is left that this job can go on from"};
  }
  return worth_trying(good);
}

std::vector<Restart::Found> Restart::worth_trying(const std::vector<Found>& good) const {
  std::vector<ImageId> numbers;
  for (const Found& one : good) {
    if (numbers.empty() || numbers.back() != one.manifest.image)
      numbers.push_back(one.manifest.image);
  }
  const std::vector<ImageId> to_try = images_to_try(numbers, job_.doubted);
  for (const ImageId image : numbers) {
    if (std::ranges::find(to_try, image) != to_try.end()) continue;
    log(Level::warning,
        concat("image ", image, " is passed by: the job was told to, or has failed ",
               "from it before there was another; --image ", image,
               " goes on from it all the same"));
  }
  std::vector<Found> found;
  for (const ImageId image : to_try) {
    for (auto one = good.rbegin(); one != good.rend(); ++one) {
      if (one->manifest.image == image) found.push_back(*one);
    }
  }
  return found;
}

Result<Done> Restart::launch(std::size_t attempt) {
  auto order = prepare(attempt);
  if (!order) return order.error();
  if (auto sent = place_.send(*std::move(order)); !sent) return sent;
  if (!unchecked_) return Done{};
  // The processes that criu makes meanwhile wait (hook.h), so nothing has run if it is damaged.
  // criu is not asked to take them back: it reads for ever from memory that was cut.
  if (auto verified = from_->verify(*unchecked_); !verified) {
    place_.kill();
    if (const auto record = from_->record(*unchecked_)) (void)remove_names_for_a_while(*record);
    return verified;
  }
  // A place that has died meanwhile says so itself: the image is none the worse.
  (void)place_.send({.kind = OrderKind::proceed, .ok = true});
  return Done{};
}

Result<Order> Restart::prepare(std::size_t attempt) {
  image_.reset();
  from_ = nullptr;
  unchecked_.reset();
  has_more_ = false;
  const auto all = images();
  if (!all) return all.error();
  Order order{.working_directory = job_.working_directory,
              .output = directory_.stdout_path(),
              .error = job_.one_output ? directory_.stdout_path() : directory_.stderr_path(),
              .log = directory_.log_path() + "/launch"};
  if (attempt >= all->size()) return from_beginning(std::move(order));
  has_more_ = attempt + 1 < all->size();
  return from_image(std::move(order), (*all)[attempt]);
}

Result<Order> Restart::from_beginning(Order order) {
  order.command = job_.command;
  // What an earlier try has written before it was saved for the first time is not this one's.
  for (const std::string& path : {order.output, order.error}) {
    std::error_code failed;
    if (std::filesystem::exists(path, failed)) std::filesystem::resize_file(path, 0, failed);
    if (failed) return Error{Errc::io, concat(path, ": ", failed.message())};
  }
  say_what_is_taken_back("the beginning", output_.cut());
  return order;
}

Result<Order> Restart::from_image(Order order, const Found& found) {
  const Manifest& manifest = found.manifest;
  image_ = manifest.image;
  from_ = found.images;
  order.kind = OrderKind::restore;
  order.parts = found.directory->parts_path(manifest.image);
  // What says how processes are made is not given to criu before it is known to be right.
  if (auto verified = from_->verify(only_parts(manifest, false)); !verified)
    return verified.error();
  const auto ready =
      place_.is_several() ? cut_output_of_hosts(manifest) : roll_back_here(manifest, order);
  if (!ready) return ready.error();
  order.unchecked = unchecked_.has_value();
  return order;
}

Result<Done> Restart::roll_back_here(const Manifest& manifest, Order& order) {
  const auto record = from_->record(manifest);
  if (!record) return record.error();
  Manifest memory = only_parts(manifest, true);
  if (is_rolled_back(*record)) {
    unchecked_ = std::move(memory);
  } else if (auto verified = from_->verify(memory); !verified) {
    return verified;
  }
  if (auto back = roll_back(*record, order.parts); !back) return back;
  order.root = record->root;
  say_what_is_taken_back(name_of(manifest), output_.cut());
  return Done{};
}

// Each host rolls back the files that its part had open; those of the output tell how much of it
// was passed on.
Result<Done> Restart::cut_output_of_hosts(const Manifest& manifest) {
  const auto record = store_.record_of_host(manifest, 1);
  if (!record) return record.error();
  std::uint64_t bytes = 0;
  for (const FileRecord& file : record->files) bytes += output_.cut(file.path, file.bytes);
  say_what_is_taken_back(name_of(manifest), bytes);
  return Done{};
}

}  // namespace piracema::ckpt
