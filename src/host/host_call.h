#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "host/agent_call.h"
#include "host/staging.h"
#include "loop/poller.h"
#include "os/process.h"

namespace piracema::cluster {

/// A remote shell (ssh, srun …) to one host: puts an agent there, or a coordinator, tells it its
/// first line, and then only watches. It ends with this object, or with us. Belongs to the poller's
/// thread.
class HostCall : public AgentCall {
 public:
  struct Events {
    /// What was put there has been told its first line.
    std::function<void()> told;
    /// Once, and nothing after it: the remote shell has ended, or did not get on in time; how. It
    /// must not destroy this.
    std::function<void(const std::string& how)> ended;
    /// What it prints after that; empty: nobody wants it.
    std::function<void(std::string_view text)> printed = {};
  };

  /// `rsh` is the remote shell, its options and the host. `first_line` is what is told first.
  /// Errc::config if it cannot be started.
  static Result<std::unique_ptr<HostCall>> start(net::Poller& poller, std::vector<std::string> rsh,
                                                 Staging staging, std::string first_line,
                                                 Events events);
  ~HostCall() override;

  /// More for what was put there, once it has been told.
  void say(std::string text);
  void reap() override;

 private:
  HostCall(net::Poller& poller, std::string name, Staging staging, std::string first_line,
           Process process, Fd in, Fd out, Events events);

  void readable();
  void hear(std::string_view line);
  void writable();
  void wait_for(std::chrono::milliseconds time, const char* what);
  void over(std::string how);

  net::Poller& poller_;
  const std::string name_;
  const Staging staging_;
  std::string first_line_;
  Process process_;
  /// The remote shell's standard input and output.
  Fd in_, out_;
  const Events events_;

  /// What was heard of a line, and what is to be said before the file.
  std::string heard_, to_say_;
  Fd file_;
  bool writing_ = false, told_ = false, over_ = false;
  std::optional<net::Poller::Timer> deadline_;
};

}  // namespace piracema::cluster
