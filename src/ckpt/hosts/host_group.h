#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

/// The hosts of one job, as if they were one place: they are opened, launched and saved together,
/// without knowing anything of MPI. Pure: the driver tells what hosts say, and does what it is
/// told.
///
/// A save is a consistent cut (Chandy and Lamport 1985) that nobody in the job takes part in:
/// 1. hold: no packet passes between capsules any more; what TCP has under way it sends again.
/// 2. dump: every host freezes its part and saves memory and sockets; it waits, frozen.
/// 3. record: when all stand still, files and /dev/shm are saved; nobody writes to a shared one.
/// 4. commit: to stop, parts are made durable, the manifest is written, and only then is the job
///    ended. To go on, it is thawed first, and parts and manifest follow while it runs.
/// Whoever fails before the manifest makes all go on; the image does not exist then.
namespace piracema::ckpt {

/// From 0 on; the job's own command runs on the first one.
using HostNumber = std::size_t;

// What happens.
/// Its capsule is made, with its links held.
struct HostReady {
  HostNumber host = 0;
};
/// The answer to StartHost.
struct HostStarted {
  HostNumber host = 0;
  bool ok = false;
  std::string why;
};
/// The answer to HoldHost: no packet leaves or enters its capsule.
struct HostHeld {
  HostNumber host = 0;
};
/// Its part of the job is frozen, memory and sockets are saved; it waits.
struct HostFrozen {
  HostNumber host = 0;
};
/// Files are saved too; to stop, all of it is durable. It waits, frozen.
struct HostRecorded {
  HostNumber host = 0;
};
/// The end of DumpHost, links open again: frozen no more, or ended if it was to stop. If it is not
/// `ok` that may come at any time.
struct HostDumped {
  HostNumber host = 0;
  bool ok = false;
  std::string why;
  /// What was in the way passes.
  bool passing = false;
};
/// After a dump that the job survives: the host's part of the image is durable.
struct HostSealed {
  HostNumber host = 0;
  bool ok = false;
  std::string why;
};
/// The first process of its part has ended: waitpid(2) status.
struct HostEnded {
  HostNumber host = 0;
  int status = 0;
};
/// Host, agent or capsule are gone, or silent for too long.
struct HostLost {
  HostNumber host = 0;
  std::string why;
};
/// The answer to Publish: the manifest is there for good, or is not.
struct Published {
  bool ok = false;
  std::string why;
};
using GroupEvent = std::variant<HostReady, HostStarted, HostHeld, HostFrozen, HostRecorded,
                                HostDumped, HostSealed, HostEnded, HostLost, Published>;

// What is to be done.
struct OpenHost {
  HostNumber host = 0;
};
/// All are ready: each learns where the others are.
struct LinkHosts {};
struct StartHost {
  HostNumber host = 0;
  bool restore = false;
};
struct HoldHost {
  HostNumber host = 0;
};
struct PassHost {
  HostNumber host = 0;
};
struct DumpHost {
  HostNumber host = 0;
  bool stop = false;
};
/// To a host that waits, or will: go on to the next step, or give the image up and thaw.
struct ProceedHost {
  HostNumber host = 0;
  bool ok = false;
};
/// Write the manifest of the image.
struct Publish {};
// What the whole says to whoever uses it.
struct GroupReady {};
struct GroupStarted {
  bool ok = false;
  std::string why;
};
struct GroupDumped {
  bool ok = false;
  std::string why;
  /// What was in the way passes.
  bool passing = false;
};
struct GroupEnded {
  int status = 0;
};
/// Nothing follows; what is left is to be killed.
struct GroupDied {
  std::string why;
};
using GroupAction =
    std::variant<OpenHost, LinkHosts, StartHost, HoldHost, PassHost, DumpHost, ProceedHost, Publish,
                 GroupReady, GroupStarted, GroupDumped, GroupEnded, GroupDied>;

class HostGroup {
 public:
  /// At least one host.
  explicit HostGroup(std::size_t hosts);

  std::vector<GroupAction> open();
  /// After GroupReady, once.
  std::vector<GroupAction> launch(bool restore);
  /// After GroupStarted, and not before the last dump's GroupDumped.
  std::vector<GroupAction> dump(bool stop);
  std::vector<GroupAction> step(const GroupEvent& event);

 private:
  enum class Phase {
    closed,
    opening,
    ready,
    starting_others,
    starting_first,
    restoring,
    running,
    holding,
    freezing,
    recording,
    publishing,
    leaving,
    sealing,
    giving_up,
    over
  };
  struct Part {
    /// Has done what the phase waits for.
    bool here = false;
    bool dumped = false, dumped_well = false, sealed = false;
  };

  void on(const HostReady& event);
  void on(const HostStarted& event);
  void on(const HostHeld& event);
  void on(const HostFrozen& event);
  void on(const HostRecorded& event);
  void on(const HostDumped& event);
  void on(const HostSealed& event);
  void on(const HostEnded& event);
  void on(const HostLost& event);
  void on(const Published& event);

  void enter(Phase phase);
  /// True when it was the last one.
  bool arrive(HostNumber host);
  void proceed();
  void give_up(const std::string& why);
  void look_whether_done();
  void finish_dump(bool ok);
  void die(std::string why);
  bool in_dump() const;
  void act(GroupAction action) { actions_.push_back(std::move(action)); }
  std::vector<GroupAction> take();

  std::vector<Part> parts_;
  Phase phase_ = Phase::closed;
  bool stop_ = false, published_ = false;
  /// Why the image is given up; the first reason.
  std::string why_;
  bool passing_ = false;
  std::vector<GroupAction> actions_;
};

}  // namespace piracema::ckpt
