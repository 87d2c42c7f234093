#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobs/protocol/job.h"

namespace piracema::jobs {

struct Placed {
  JobId job = 0;
  /// As many as it wants; the first one runs its command. Of a job that runs: others beside those
  /// that it has.
  std::vector<std::string> nodes;
};

/// Which jobs that run get other nodes for those that have left them (follows_nodes), before any
/// begins. Then which waiting jobs begin now, and where; oldest first, each on the nodes with the
/// most free places, on as many as it wants at once or on none. The oldest job that has to wait for
/// nodes which are large enough has what becomes free there: so none waits for ever behind smaller
/// ones, and those go on elsewhere. Of two nodes with as much free the one whose machine is lent
/// for longer is taken. One that wants its machines to be alike (wants_alike) has those of one
/// kind, as its image was made on; one of several nodes those of one site, if it can begin there at
/// once. Where a node's home is full (Node::full) none begins, and none that runs gets it as one
/// more. Jobs that pause are left alone. Says of all others, and of those that go on with fewer
/// nodes than they want, what they wait for (`Job::why`).
std::vector<Placed> place(std::map<JobId, Job>& jobs, const std::map<std::string, Node>& nodes);

}  // namespace piracema::jobs
