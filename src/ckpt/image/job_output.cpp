#include "ckpt/image/job_output.h"

#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

namespace piracema::ckpt {

namespace {

/// A store that is full has room again when somebody makes it: nothing tells of that.
constexpr Time try_again_after = std::chrono::seconds(1);
/// Nor does the kernel tell of what another host has written.
constexpr Time look_again_after = std::chrono::milliseconds(250);

std::uint64_t size_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

Result<std::unique_ptr<JobOutput>> JobOutput::open(net::Poller& poller,
                                                   const JobDirectory& directory, bool one,
                                                   bool elsewhere, OnRoom on_room) {
  std::unique_ptr<JobOutput> both(new JobOutput(poller, directory, std::move(on_room)));
  const std::string out = directory.stdout_path(), err = directory.stderr_path();
  auto output = OutputTail::open(out, size_of(out), STDOUT_FILENO, elsewhere);
  if (!output) return output.error();
  both->watch(both->output_.emplace(*std::move(output)));
  if (elsewhere) both->look_again();
  if (one) return both;
  auto error = OutputTail::open(err, size_of(err), STDERR_FILENO, elsewhere);
  if (!error) return error.error();
  both->watch(both->error_.emplace(*std::move(error)));
  return both;
}

JobOutput::~JobOutput() {
  if (again_) poller_.cancel(*again_);
  if (look_) poller_.cancel(*look_);
  for (auto* tail : {&output_, &error_}) {
    if (!*tail) continue;
    poller_.forget((*tail)->watched());
    poller_.forget((*tail)->to());
  }
}

void JobOutput::watch(OutputTail& tail) {
  poller_.watch(tail.watched(), EPOLLIN, [this, &tail](std::uint32_t) {
    has_room();
    pass_on(tail);
  });
}

bool JobOutput::pass_on(OutputTail& tail) {
  const int to = tail.to();
  poller_.forget(to);
  switch (tail.drain()) {
    case OutputTail::Drained::all:
      return true;
    case OutputTail::Drained::later:
      poller_.watch(to, EPOLLOUT, [this, &tail](std::uint32_t) { pass_on(tail); });
      return false;
    case OutputTail::Drained::no_room:
      if (!said_full_) {
        log(Level::warning, concat("the job's output cannot be passed on, as its store is full: it "
                                   "waits for room, and lies in ",
                                   directory_.path()));
      }
      said_full_ = true;
      try_again();
      return false;
  }
  return true;
}

void JobOutput::try_again() {
  if (again_) return;
  again_ = poller_.at(now() + try_again_after, [this] {
    again_.reset();
    has_room();
    drain();
  });
}

void JobOutput::look_again() {
  look_ = poller_.at(now() + look_again_after, [this] {
    has_room();
    drain();
    look_again();
  });
}

bool JobOutput::has_room() {
  const bool enough = (!output_ || output_->keep_room()) && (!error_ || error_->keep_room());
  if (!enough) try_again();
  if (enough != std::exchange(had_room_, enough)) on_room_(enough);
  return enough;
}

void JobOutput::give_room_back() {
  if (output_) output_->give_room_back();
  if (error_) error_->give_room_back();
}

bool JobOutput::drain() {
  const bool out = !output_ || pass_on(*output_), err = !error_ || pass_on(*error_);
  return out && err;
}

std::uint64_t JobOutput::cut() {
  return cut(directory_.stdout_path(), size_of(directory_.stdout_path())) +
         cut(directory_.stderr_path(), size_of(directory_.stderr_path()));
}

std::uint64_t JobOutput::cut(const std::string& path, std::uint64_t bytes) {
  if (output_ && path == directory_.stdout_path()) return output_->cut_to(bytes);
  if (error_ && path == directory_.stderr_path()) return error_->cut_to(bytes);
  return 0;
}

}  // namespace piracema::ckpt
