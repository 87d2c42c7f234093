#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loop/poller.h"
#include "os/process.h"

namespace piracema::cluster {

/// Asks hosts, all at once, whether a remote shell reaches them: it runs `true` there. Belongs to
/// the poller's thread.
class HostProbe {
 public:
  /// For each call whether it came back in time.
  using OnDone = std::function<void(std::vector<bool> reached)>;

  /// Each call is a remote shell, its options and a host; an empty one is a host that needs none.
  /// `on_done` is called once, not from within, and may destroy this.
  HostProbe(net::Poller& poller, std::vector<std::vector<std::string>> calls, Time within,
            OnDone on_done);
  ~HostProbe();
  HostProbe(const HostProbe&) = delete;
  HostProbe& operator=(const HostProbe&) = delete;

  /// Looks whether calls have ended: where the kernel has no pidfd, after SIGCHLD.
  void reap_all();

 private:
  void reap(std::size_t call);
  void finish();

  net::Poller& poller_;
  OnDone on_done_;
  std::vector<bool> reached_;
  /// Null once it has ended.
  std::vector<std::unique_ptr<Process>> calls_;
  std::size_t running_ = 0;
  std::optional<net::Poller::Timer> deadline_;
};

}  // namespace piracema::cluster
