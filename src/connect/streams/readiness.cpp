#include <piracema/detail/readiness.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "base/text.h"

namespace piracema::detail {

class Readiness::Waiter {
 public:
  Waiter(int fd, std::function<void()> wake)
      : fd_(fd), wake_(std::move(wake)), told_(::eventfd(0, EFD_CLOEXEC)) {
    if (!told_) throw std::runtime_error(with_errno("an eventfd for a source"));
    thread_ = std::thread([this] { run(); });
  }
  ~Waiter() {
    stops_ = true;
    tell();
    thread_.join();
  }

  void ask() {
    if (!asked_.exchange(true)) tell();
  }

 private:
  void tell() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(told_.get(), &one, sizeof one);
  }

  void run() {
    while (!stops_) {
      // Nobody has asked: what can be read is left for later. poll(2) passes by what is below 0.
      pollfd both[] = {{told_.get(), POLLIN, 0}, {asked_ ? fd_ : -1, POLLIN, 0}};
      if (::poll(both, 2, -1) < 0 && errno != EINTR) return wake_();
      if (both[0].revents != 0) {
        std::uint64_t times = 0;
        [[maybe_unused]] const ssize_t count = ::read(told_.get(), &times, sizeof times);
      } else if (both[1].revents != 0) {
        asked_ = false;
        wake_();
      }
    }
  }

  const int fd_;
  const std::function<void()> wake_;
  const Fd told_;
  std::atomic<bool> asked_{false}, stops_{false};
  std::thread thread_;
};

Readiness::Readiness() = default;
Readiness::Readiness(const Readiness&) {}
Readiness& Readiness::operator=(const Readiness& other) {
  if (this != &other) stop();
  return *this;
}
Readiness::~Readiness() = default;

void Readiness::start(int fd, std::function<void()> wake) {
  stop();
  waiter_ = std::make_unique<Waiter>(fd, std::move(wake));
}

void Readiness::stop() { waiter_.reset(); }

void Readiness::ask() {
  if (waiter_) waiter_->ask();
}

}  // namespace piracema::detail
