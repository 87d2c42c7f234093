#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "forecast/window/lending.h"
#include "forecast/window/lent_calendar.h"
#include "forecast/window/user_watch.h"
#include "loop/poller.h"

namespace piracema::ckpt {

/// This machine, which is lent for a while: by a calendar, while its user is away, or both. Looks
/// every second. Belongs to the poller's thread.
class LentMachine {
 public:
  struct Settings {
    std::optional<LentCalendar> calendar = {};
    UserWatch::Settings users = {};
    Lending::Settings lending = {};
    /// Or else it is there for good.
    bool is_for_a_while() const {
      return calendar || users.by_input_and_load || !users.command.empty();
    }
  };
  struct Seen {
    bool is_lent = true;
    /// Then its owner has it back, if that is known.
    std::optional<Time> gone_by;
    /// How long the window that is open is, if it has an end; or the grace, if a user has come.
    std::optional<Time> length;
    /// Why it is not lent, in a few words.
    std::string why;
    /// As of Lending: of one that is not lent.
    std::optional<Time> suspended_until = {};
    bool keeps = false;
  };
  /// `ours` are the first processes of what is no user's. Nothing is told before `look`.
  LentMachine(net::Poller& poller, Settings settings, std::function<std::vector<pid_t>()> ours,
              std::function<void(const Seen&)> told);
  ~LentMachine();

  /// Now, and every second from then on.
  void look();

 private:
  void tell();
  std::string why_not(Time now) const;

  net::Poller& poller_;
  const Settings settings_;
  const std::function<std::vector<pid_t>()> ours_;
  const std::function<void(const Seen&)> told_;
  Lending lending_;
  UserWatch users_;
  /// What comes meanwhile is told at its end.
  bool is_looking_ = false;
  std::optional<net::Poller::Timer> timer_;
};

}  // namespace piracema::ckpt
