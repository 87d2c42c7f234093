#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cluster/driver/driver.h"
#include "cluster/driver/hosts.h"
#include "cluster/driver/places.h"
#include "control/hosts_of_job.h"
#include "host/hostfile_watch.h"
#include "loop/poller.h"

namespace piracema::cluster {

/// The hosts of a job as a file names them while it runs: those that it names no more are drained,
/// new ones are called and get their share. A coordinator that takes the job over knows them before
/// any is called. Belongs to the poller's thread.
class FollowedHosts {
 public:
  struct Events {
    /// These are the hosts from now on. False: another one coordinates the job.
    std::function<bool(HostsOfJob now)> decide;
    /// They are known.
    std::function<void()> changed;
  };

  /// All outlive this. `options` gets the new hosts.
  FollowedHosts(net::Poller& poller, JobOptions& options, Hosts& hosts, Places& places,
                Events events);

  /// Slots that came since have places by now. Later: somebody may be in the middle of a decision.
  void more_slots();
  /// The job is over: nothing changes any more. Waits for a look at the file that is under way.
  void stop();

 private:
  void listed(const std::vector<ListedHost>& hosts);
  HostsOfJob all() const;

  net::Poller& poller_;
  JobOptions& options_;
  Hosts& hosts_;
  Places& places_;
  const Events events_;
  std::unique_ptr<HostfileWatch> watch_;
};

/// The coordinator before has left these: hosts have their numbers, and slots their places.
void use_hosts(const HostsOfJob& left, JobOptions& options);

}  // namespace piracema::cluster
