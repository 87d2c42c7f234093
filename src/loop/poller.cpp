#include "loop/poller.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include "base/ensure.h"

namespace piracema::net {

namespace {

constexpr int forgotten = -1;

Fd opened(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return Fd(fd);
}

epoll_event interest(int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return event;
}

}  // namespace

Poller::Poller()
    : epoll_(opened(epoll_create1(EPOLL_CLOEXEC), "epoll")),
      wake_(opened(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
  watch(wake_.get(), EPOLLIN, [this](std::uint32_t) { run_posted(); });
}

void Poller::watch(int fd, std::uint32_t events, OnReady on_ready) {
  ENSURE(is_mine());
  ENSURE(fd >= 0);
  const auto index = static_cast<std::size_t>(fd);
  if (index >= watched_.size()) watched_.resize(index + 1);
  ENSURE(watched_[index] == nullptr);
  watched_[index] = std::make_shared<OnReady>(std::move(on_ready));
  epoll_event event = interest(fd, events);
  // Fails for a bad descriptor, or for lack of kernel memory, which is as fatal as lack of ours.
  ENSURE(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0);
}

void Poller::change(int fd, std::uint32_t events) {
  epoll_event event = interest(fd, events);
  const bool changed = epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0;
  ENSURE(changed || errno == ENOENT);
}

void Poller::forget(int fd) {
  ENSURE(is_mine());
  const auto index = static_cast<std::size_t>(fd);
  if (fd < 0 || index >= watched_.size() || watched_[index] == nullptr) return;
  watched_[index].reset();
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  // The number may be used again before the rest of the batch is looked at.
  for (std::size_t i = 0; i < batch_size_; ++i) {
    if (batch_[i].data.fd == fd) batch_[i].data.fd = forgotten;
  }
}

Poller::Timer Poller::at(Time when, std::function<void()> callback) {
  ENSURE(is_mine());
  const Timer timer{when, ++timer_count_};
  timers_.emplace(timer, std::move(callback));
  return timer;
}

void Poller::cancel(Timer timer) {
  ENSURE(is_mine());
  timers_.erase(timer);
}

void Poller::post(std::function<void()> work) {
  bool was_empty = false;
  {
    std::lock_guard lock(posted_mutex_);
    was_empty = posted_.empty();
    posted_.push_back(std::move(work));
  }
  // Whoever posted the first one has woken the loop, and it takes all of them at once.
  if (was_empty) eventfd_write(wake_.get(), 1);
}

void Poller::run_posted() {
  eventfd_t count = 0;
  eventfd_read(wake_.get(), &count);  // Before the queue is taken: what comes after wakes anew.
  std::vector<std::function<void()>> work;
  {
    std::lock_guard lock(posted_mutex_);
    work.swap(posted_);
  }
  for (auto& each : work) each();
}

void Poller::run_timers() {
  if (timers_.empty()) return;
  const Time time = now();
  while (!timers_.empty() && timers_.begin()->first.first <= time) {
    const auto callback = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    callback();
  }
}

void Poller::run_once(std::chrono::milliseconds timeout) {
  ENSURE(runner_.exchange(std::this_thread::get_id()) == std::thread::id());
  returning_ = timeout.count() == 0;
  int ready = 0;
  const auto wait = [&](int ms) {
    ready = epoll_wait(epoll_.get(), batch_.data(), static_cast<int>(batch_.size()), ms);
    return ready != 0;
  };
  const int longest = wait_ms(timeout);
  if (longest == 0) {
    wait(0);
  } else if (!spin_.until([&] { return wait(0); })) {
    wait(longest);
    spin_.slept();
  }
  batch_size_ = static_cast<std::size_t>(std::max(ready, 0));
  for (std::size_t i = 0; i < batch_size_; ++i) {
    if (batch_[i].data.fd == forgotten) continue;
    const auto on_ready = watched_[static_cast<std::size_t>(batch_[i].data.fd)];
    (*on_ready)(batch_[i].events);
  }
  batch_size_ = 0;
  run_timers();
  runner_ = std::thread::id();
}

void Poller::wake() {
  if (runner_ == std::this_thread::get_id()) {
    returning_ = true;
  } else {
    eventfd_write(wake_.get(), 1);
  }
}

void Poller::run() {
  while (!stopped_) run_once(std::chrono::milliseconds(-1));
  stopped_ = false;
}

void Poller::stop() {
  stopped_ = true;
  eventfd_write(wake_.get(), 1);
}

bool Poller::is_mine() const {
  const std::thread::id runner = runner_;
  return runner == std::thread::id() || runner == std::this_thread::get_id();
}

int Poller::wait_ms(std::chrono::milliseconds timeout) const {
  using std::chrono::milliseconds;
  if (!timers_.empty()) {
    // Rounded up: woken too early, the loop would spin until the time has come.
    const auto left = std::chrono::ceil<milliseconds>(timers_.begin()->first.first - now());
    if (timeout < milliseconds(0) || left < timeout) timeout = std::max(left, milliseconds(0));
  }
  const auto longest = milliseconds(std::numeric_limits<int>::max());
  return static_cast<int>(std::min(timeout, longest).count());
}

}  // namespace piracema::net
