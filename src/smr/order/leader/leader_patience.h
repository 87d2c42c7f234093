#pragma once

#include "base/clock.h"
#include "smr/order/agreement/request_pool.h"
#include "smr/order/messages/settings.h"

namespace piracema::smr {

/// How long this replica waits for its leader, and since when. Pure.
class LeaderPatience {
 public:
  explicit LeaderPatience(const Settings& settings) : settings_(settings) {}

  /// How long to wait: doubles with every change of the leader that has failed itself, as the
  /// leader that it brought was waited for in vain before it had worked for a while. One that had
  /// is replaced without a longer wait.
  Time patient(milliseconds time) const;
  /// Only a demand waits longer for it: others may have to hear of a request before it is believed,
  /// whoever leads.
  RequestPool::Patience for_requests() const {
    return {Time(settings_.request_timeout), patient(settings_.request_timeout)};
  }
  /// When a leader is silent that is not heard of until then.
  Time silent_at() const { return heard_ + patient(settings_.silence_timeout); }
  /// When the SYNC of a new one has to be there.
  Time sync_by() const { return sync_by_; }
  /// When a new leader has to have caught up with what is bound.
  Time ready_by() const { return ready_by_; }
  /// Something was decided lately.
  bool goes_on(Time now) const { return progress_ + patient(settings_.request_timeout) > now; }

  /// The first step.
  void start(Time now);
  /// The regency of the log has yet to begin.
  void wait_for_sync(Time now) { sync_by_ = now + settings_.sync_timeout; }

  /// What is known of the regency that this replica leaves.
  struct Left {
    /// Its SYNC had come.
    bool synced = false;
    /// Another replica led.
    bool followed = false;
    bool some_wait = false;
  };
  /// Another regency is entered, whose SYNC is waited for.
  void enter(Time now, const Left& left);
  /// It begins: its SYNC has come.
  void begin(Time now);
  /// What is bound in it is taken over, and from now on its leader works.
  void begin_work(Time now);
  /// Another view rules.
  void begin_view(Time now);

  /// It lives, which is all that is known.
  void hear(Time now) { heard_ = now; }
  /// It says so itself. `idle`: its regency has begun, and nobody wants anything.
  void hear(Time now, bool idle);
  /// Something is decided, and the leader may have had no part in it.
  void decided(Time now, bool by_leader);
  /// The service jumped to a checkpoint.
  void jumped(Time now) { progress_ = now; }

  /// This replica stood still for so long: it does not blame the leader. False if it has done so
  /// twice in a row.
  bool forgive(Time now, Time late);

 private:
  void works(Time now);
  bool has_worked(const Left& left) const;
  bool has_waited_long(Time now, const Left& left) const;

  const Settings settings_;
  Time heard_{};
  /// The last decision.
  Time progress_{};
  /// When this regency began here, and until when its leader was seen to work.
  Time began_{}, worked_until_{};
  Time sync_by_{}, ready_by_{};
  /// Changes of the leader that have failed, and since when patience has been what it is.
  unsigned failures_ = 0;
  Time since_{};
  /// How often in a row this replica has forgiven its own lateness.
  unsigned forgiven_ = 0;
};

}  // namespace piracema::smr
