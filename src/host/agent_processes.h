#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "host/agent_messages.h"
#include "host/at_work.h"
#include "loop/poller.h"
#include "os/process.h"

namespace piracema::cluster {

/// The processes that an agent has started. Tells how each of them ends. Belongs to the poller's
/// thread.
class AgentProcesses {
 public:
  AgentProcesses(net::Poller& poller, std::function<void(const Ended&)> ended)
      : poller_(poller), ended_(std::move(ended)) {}

  /// Runs the command of `setup`; standard output and error go to `output`, if the setup says so.
  /// Errc::refused for one that runs already.
  Result<Done> start(const StartProcess& what, const Setup& setup, int output);
  /// SIGKILL. Nothing happens if it is gone.
  void kill(const EndProcess& what);
  void kill_all();
  /// Looks whether some have ended: where the kernel has no pidfd.
  void reap_all();
  bool empty() const { return children_.empty(); }
  std::vector<RunningProcess> running() const;
  /// Of those that cannot say so themselves.
  std::vector<Condition> conditions() const;
  /// Nothing if it has ended.
  std::optional<AtWorkNow> at_work(const AskAtWork& what) const;

 private:
  using Id = std::pair<Slot, std::uint32_t>;
  struct Child {
    std::unique_ptr<Process> process;
    AtWork at_work;
  };

  void reap(Id id);

  net::Poller& poller_;
  const std::function<void(const Ended&)> ended_;
  std::map<Id, Child> children_;
};

}  // namespace piracema::cluster
