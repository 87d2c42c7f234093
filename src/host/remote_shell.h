#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"

namespace piracema::ckpt {

/// A command such as ssh that runs a program on another host; our end of its standard input and
/// output. What it writes to standard error goes to ours. It has a process group of its own, so
/// that Ctrl-C on a terminal reaches us alone.
class RemoteShell {
 public:
  /// Errc::config if it cannot be run.
  static Result<RemoteShell> start(const std::vector<std::string>& command);
  RemoteShell(RemoteShell&& other) noexcept = default;
  RemoteShell& operator=(RemoteShell&& other) noexcept = default;
  ~RemoteShell() { end(Time{}); }

  /// A socket, which does not block.
  int channel() const { return channel_.get(); }
  /// The program over there is to end, as nobody speaks to it any more.
  void hang_up();
  /// Waits until then for it to end, and ends the command itself if need be. How it ended: "ended
  /// with status 255"; empty when it was us. Any number of times.
  std::string end(Time by);

 private:
  RemoteShell(Fd process, Fd channel)
      : process_(std::move(process)), channel_(std::move(channel)) {}

  /// A pidfd.
  Fd process_;
  Fd channel_;
};

/// What reaches a host: the words of --rsh and its name, or nothing for this machine itself.
std::vector<std::string> way_to(const std::string& rsh, const std::string& host);

}  // namespace piracema::ckpt
