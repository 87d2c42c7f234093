#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "forecast/window/presence_command.h"
#include "forecast/window/user_presence.h"
#include "loop/poller.h"

namespace piracema::ckpt {

/// Whether a user is at this machine: by input and load, or by a command of the site's. Belongs to
/// the poller's thread.
class UserWatch {
 public:
  struct Settings {
    /// Or else nobody is looked for, unless there is a command.
    bool by_input_and_load = false;
    PresenceSettings presence = {};
    /// Ends with 0 while a user is there; it takes the place of ours.
    std::string command = {};
  };
  UserWatch(net::Poller& poller, Settings settings, std::function<void(bool is_there)> answer);

  /// The answer comes at once, or once the command has ended. `ours` and all that descends from
  /// them are no user's.
  void look(const std::vector<pid_t>& ours);

 private:
  const Settings settings_;
  const std::function<void(bool)> answer_;
  UserPresence presence_;
  std::optional<PresenceCommand> command_;
};

}  // namespace piracema::ckpt
