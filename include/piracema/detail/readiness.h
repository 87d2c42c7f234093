#pragma once

#include <functional>
#include <memory>

namespace piracema::detail {

/// A thread that waits until a descriptor can be read, so that a source need not.
///
/// A copy is one that was not started, as a copy of a source is one that was not.
class Readiness {
 public:
  Readiness();
  Readiness(const Readiness&);
  Readiness& operator=(const Readiness&);
  ~Readiness();

  /// `fd` stays open until this is stopped. Throws std::runtime_error when there is no descriptor,
  /// std::system_error when there is no thread.
  void start(int fd, std::function<void()> wake);
  /// Ends the thread: `wake` is not called after that.
  void stop();

  /// Has `wake` called once when `fd` can be read, or has ended; at once if it can now.
  void ask();

 private:
  class Waiter;
  std::unique_ptr<Waiter> waiter_;
};

}  // namespace piracema::detail
