#include "os/stopped_tree.h"

#include <signal.h>

#include "os/process_state.h"
#include "os/process_tree.h"

namespace piracema::ckpt {

bool StoppedTree::stop() {
  bool all = true;
  for (const JobProcess& process : tree_of(all_processes(), root_)) {
    if (process.pid == root_) continue;
    const cluster::ProcessState state = cluster::state_of(process.pid);
    if (state.stopped || state.traced || state.ending) continue;
    if (::kill(process.pid, SIGSTOP) != 0) continue;
    const bool is_new = stopped_.insert(process.pid).second;
    // It was told, and stops before it does anything else.
    if (state.blocked && !is_new) continue;
    all = false;
  }
  return all;
}

// A process that has ended meanwhile may have left its number to somebody else's.
void StoppedTree::go_on() {
  for (const JobProcess& process : tree_of(all_processes(), root_)) {
    if (stopped_.contains(process.pid)) ::kill(process.pid, SIGCONT);
  }
  stopped_.clear();
}

}  // namespace piracema::ckpt
