#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/driver/crew.h"
#include "cluster/driver/driver.h"
#include "cluster/driver/world_directory.h"
#include "host/host_probe.h"
#include "loop/poller.h"
#include "os/process.h"

namespace piracema::cluster {

/// A world: all processes of the job, started by one mpirun, which is one unit of failure (design
/// 004). The next one begins when each slot wants a process and all of the last one are gone, on
/// those hosts that can be reached. Belongs to the poller's thread.
class World {
 public:
  struct Events {
    /// All of these are to be started at once by this command.
    std::function<void(const std::vector<Crew::Id>&, Launch)> start;
    /// There will be no world any more, and why.
    std::function<void(std::string why)> given_up;
  };

  /// `launch` is what one process is started with, `mark` a file that the hosts have to see, or
  /// empty. `options` and `crew` outlive this.
  World(net::Poller& poller, const JobOptions& options, const Crew& crew, Launch launch,
        const std::string& mark, Events events);

  void want(Crew::Id id);
  /// False if it was not wanted, or is started already.
  bool want_no_more(Crew::Id id) { return std::erase(wanted_, id) != 0; }
  /// One of its processes is there.
  void joined() { joined_ = joined_once_ = true; }
  /// Call when processes have ended.
  void start_when_complete();
  /// As Crew has it.
  void reap_all();

 private:
  bool is_complete() const;
  void suggest_hosts();
  void clear();
  void probe_hosts();
  void hosts_probed(const std::vector<bool>& reached);
  void start();

  net::Poller& poller_;
  const JobOptions& options_;
  const Crew& crew_;
  Launch launch_;
  Events events_;
  /// Only with memory to share.
  std::unique_ptr<WorldDirectory> directory_;
  /// Where its ranks run.
  std::vector<std::size_t> host_of_rank_;
  std::vector<Crew::Id> wanted_;
  /// Asks which hosts are still there.
  std::unique_ptr<HostProbe> probe_;
  bool joined_ = true, joined_once_ = false;
  /// How many in a row nobody has joined from.
  int in_vain_ = 0;
};

}  // namespace piracema::cluster
