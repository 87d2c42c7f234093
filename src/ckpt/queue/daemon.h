#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "forecast/window/lending.h"

/// What gives the jobs of a queue to a host while it is lent, and takes them away when its user
/// comes back: the place of ComputeMode and OAR in paper 002, section 3. Pure: the driver tells
/// what happens and when, and does what it is told. Nothing in here has to survive: the queue and
/// the jobs' directories do, so a daemon that was killed begins again with what it finds there.
namespace piracema::ckpt {

// What happens. A job is known by the name of its entry in the queue.

/// What the calendar says: lent until then, or not lent now.
struct LentUntil {
  std::optional<Time> closes;
};
/// Somebody sits at the machine, or has come to need it.
struct UserSeen {
  bool present = false;
};
/// Those that have not ended, first come first served.
struct QueueSeen {
  std::vector<std::string> jobs;
};
enum class Outcome : std::uint8_t {
  ended,    ///< It has its result.
  stopped,  ///< It has left, and can go on from an image or from its beginning.
  died,     ///< Likewise, but it did not leave: somebody has killed what ran it.
  failed,   ///< It could not be begun, or another host has it.
};
/// Nothing of the job runs here any more.
struct JobLeft {
  std::string job;
  Outcome outcome = Outcome::failed;
};
/// Of a running job that does not look at the close itself: how long before it it has to be asked
/// to leave, by the forecast, and killed if it is there still.
struct LeavingTakes {
  std::string job;
  Time leaving{}, ending{};
};
struct DaemonTick {};
using DaemonEvent = std::variant<LentUntil, UserSeen, QueueSeen, JobLeft, LeavingTakes, DaemonTick>;

// What is to be done.

/// Goes on with it, or begins it; it leaves by itself before `closes`, if there is one, or its
/// driver says what that takes (LeavingTakes).
struct StartJob {
  std::string job;
  std::optional<Time> closes;
};
/// It is to be saved and gone by then.
struct LeaveJob {
  std::string job;
  Time by{};
};
/// At once; the last image is what it goes on from. JobLeft follows all the same.
struct KillJob {
  std::string job;
};
using DaemonAction = std::variant<StartJob, LeaveJob, KillJob>;

struct DaemonSettings {
  /// Jobs at a time.
  std::size_t slots = 1;
  Lending::Settings lending = {};
  /// A job that another host has, or that could not be begun, is tried again after this, and
  /// then after twice as long each time, at most an hour.
  Time retry = std::chrono::seconds(15);
};

class Daemon {
 public:
  explicit Daemon(DaemonSettings settings) : settings_(settings), lending_(settings.lending) {}

  std::vector<DaemonAction> step(Time now, const DaemonEvent& event);
  /// When a tick is due; none: something else has to happen first.
  std::optional<Time> wake() const;

  /// Of this host, for jobs.
  bool is_lent() const { return lending_.is_lent(now_); }
  std::size_t running() const { return running_.size(); }
  const Lending& lending() const { return lending_; }

  /// How a job of the queue stands here.
  struct Seen {
    /// It was asked to leave; it was killed.
    bool runs = false, leaves = false, killed = false;
    /// By then nothing of it may be here; of one that does not run: not to be begun before, none:
    /// not in this window.
    std::optional<Time> gone_by, not_before;
    /// How often it could not be begun.
    int failures = 0;
  };
  Seen job(const std::string& name) const;

 private:
  struct Running {
    /// Nothing of it may be there then.
    std::optional<Time> gone_by;
    /// It does not know that itself: it is asked so long before.
    std::optional<Time> leaving_takes;
    Time ending_takes{};
    /// It was asked as the close is near; its machine is wanted back; it was killed.
    bool asked = false, wanted_back = false, killed = false;
    std::optional<Time> ask_at() const;
    std::optional<Time> kill_at() const;
  };
  struct Waiting {
    Time not_before{};
    int failures = 0;
    /// The close that it has left for: what is left of that window is none of its.
    std::optional<Time> left_for;
  };

  void on(const LentUntil& event) { lending_.window(event.closes); }
  void on(const UserSeen& event) { lending_.user(now_, event.present); }
  void on(const QueueSeen& event);
  void on(const JobLeft& event);
  void on(const LeavingTakes& event);
  void on(const DaemonTick&) {}

  void take_back();
  void ask_in_time();
  void kill_late();
  void start_jobs();
  /// None: not in this window.
  std::optional<Time> not_before(const std::string& job) const;

  const DaemonSettings settings_;
  Time now_{};
  std::vector<DaemonAction> actions_;
  Lending lending_;
  std::vector<std::string> queue_;
  std::map<std::string, Running> running_;
  std::map<std::string, Waiting> waiting_;
};

}  // namespace piracema::ckpt
