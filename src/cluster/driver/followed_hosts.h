#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cluster/driver/driver.h"
#include "cluster/driver/hosts.h"
#include "cluster/driver/places.h"
#include "host/hostfile_watch.h"
#include "loop/poller.h"

namespace piracema::cluster {

/// The hosts of a job as a file names them while it runs: those that it names no more are drained,
/// new ones are called and get their share. Belongs to the poller's thread.
class FollowedHosts {
 public:
  /// All outlive this. `options` gets the new hosts; `changed` is called once they are known.
  FollowedHosts(net::Poller& poller, JobOptions& options, Hosts& hosts, Places& places,
                std::function<void()> changed);

  /// The job is over: nothing changes any more. Waits for a look at the file that is under way.
  void stop();

 private:
  void listed(const std::vector<ListedHost>& hosts);
  void add(const ListedHost& host);

  JobOptions& options_;
  Hosts& hosts_;
  Places& places_;
  const std::function<void()> changed_;
  std::unique_ptr<HostfileWatch> watch_;
};

}  // namespace piracema::cluster
