#pragma once

#include <atomic>
#include <optional>

#include "base/clock.h"
#include "base/fd.h"
#include "loop/poller.h"
#include "run/threads/parker.h"

namespace piracema::runtime {

/// Who runs the poller of a process: a thread of its own, or the thread of the only replica,
/// between two turns and while that has nothing to do (leader and followers, Schmidt et al. 2000;
/// docs/design/014-threads.md). What comes for the replica then costs one wake, or none, and not
/// two.
///
/// The owner lends the lead to the guest while the guest comes back soon: one that has been away at
/// its work for two milliseconds loses it for a while.
class Lead {
 public:
  /// `poller` is run by nobody else. Throws std::system_error when the process has no descriptors
  /// left.
  explicit Lead(net::Poller& poller);

  // ---- the owner's thread
  /// Goes on until `stop`, which may come before; afterwards the poller is the owner's alone.
  void run();
  /// The one actor that may have the lead; it is there until `run` has returned.
  void invite(Parker& guest);

  /// Any thread.
  void stop();

  // ---- the guest's thread; what has come is seen to, if there is a lead to be had
  void visit();
  /// Runs the poller until the guest is woken, `longest` has passed or the owner wants the lead
  /// back. False at once if there is no lead to be had: the guest has to sleep then.
  bool wait(std::optional<Time> longest);

 private:
  enum class Holder { nobody, owner, guest };

  bool take(Holder who);
  void lend();
  void take_back();
  bool guest_is_away();
  void give_back();
  void set_alarm(Time after);
  void sleep_until_alarm();

  net::Poller& poller_;
  /// Wakes the owner. Whenever nobody has the lead the alarm is set, so that a lead which nobody
  /// takes up is idle for two milliseconds at most.
  Fd alarm_;
  std::atomic<bool> alarm_is_set_ = false;
  std::atomic<Holder> holder_ = Holder::nobody;
  std::atomic<bool> stopped_ = false;
  /// The owner waits for the lead.
  std::atomic<bool> wanted_ = true;
  Parker* guest_ = nullptr;

  /// When the guest had it last.
  std::atomic<Time> left_at_{};
  // ---- the owner's
  Time lends_from_{}, keeps_for_{};
};

}  // namespace piracema::runtime
