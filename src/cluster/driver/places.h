#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cluster/driver/crew.h"
#include "cluster/driver/driver.h"
#include "cluster/driver/hosts.h"

namespace piracema::cluster {

/// Where the processes of a job run: each slot has a host, and is started on another one while that
/// cannot be reached; a process for which there is no host at all waits. Belongs to the poller's
/// thread.
class Places {
 public:
  /// `options`, `crew` and `hosts` outlive this. `started` is called for each process that an agent
  /// was told to start.
  Places(const JobOptions& options, Crew& crew, Hosts& hosts, std::function<void()> started);

  /// The job may have more slots than when it began: those are where the fewest are. Whether it
  /// has.
  bool give_hosts();
  /// Where the process of each slot belongs.
  const std::vector<std::size_t>& homes() const { return host_of_slot_; }
  /// Starts it, or lets it wait.
  void start(Crew::Id id, Time now);
  /// Those that wait, once there is a host for each of them.
  void start_waiting(Time now);
  /// False if it does not wait.
  bool waits_no_more(Crew::Id id) { return std::erase(waiting_, id) != 0; }
  /// A host that the job uses from now on gets slots of those that are not used any more, and else
  /// of those that have the most, until it has as many; no more than `places`, if it is said.
  void share_with(std::size_t host, std::optional<std::uint32_t> places);
  /// Processes that are to be elsewhere: on a host that drains, while there is another one; or not
  /// on their own host although that has been there for some time.
  struct Displaced {
    std::vector<Slot> slots;
    /// Some are on a host that drains.
    bool drains = false;
  };
  Displaced displaced() const;
  bool is_on_draining(Slot slot) const;
  /// Where the process of a slot is now, for people; and where it belongs.
  std::string host_of(Slot slot) const;
  const std::string& own_host_of(Slot slot) const;
  /// How long there has been somebody who waits.
  Time waited(Time now) const { return waiting_.empty() ? Time{} : now - waiting_since_; }

 private:
  std::optional<std::size_t> now_on(Slot slot) const;
  std::optional<std::size_t> choose(Crew::Id id) const;
  std::vector<std::string> environment_on(std::size_t host, Slot slot) const;
  std::string place_on_host(Slot slot) const;
  std::size_t emptiest() const;
  bool is_near(std::size_t host, Slot slot) const;

  const JobOptions& options_;
  Crew& crew_;
  Hosts& hosts_;
  const std::function<void()> started_;
  std::vector<std::size_t> host_of_slot_;
  std::vector<Crew::Id> waiting_;
  Time waiting_since_{};
};

}  // namespace piracema::cluster
