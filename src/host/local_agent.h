#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <string>

#include "host/agent_call.h"
#include "loop/poller.h"
#include "os/process.h"

namespace piracema::cluster {

/// An agent on this host: a process that starts those of a job here and outlives us, so that the
/// next coordinator finds them. It ends with this object; without a coordinator, when it has looked
/// for one for as long as it was told. Belongs to the poller's thread.
class LocalAgent : public AgentCall {
 public:
  struct Settings {
    /// What it starts.
    std::string program;
    /// As HostCall has it.
    std::string first_line;
    /// It has our standard input, or none.
    bool hand_on_input = false;
    /// It has our standard error in place of our standard output, which then ends with us.
    bool output_to_error = false;
  };

  /// `ended` is called once, when it has ended; how. It must not destroy this. Errc::config if it
  /// cannot be started.
  static Result<std::unique_ptr<LocalAgent>> start(net::Poller& poller, const Settings& settings,
                                                   std::function<void(const std::string&)> ended);
  ~LocalAgent() override;

  void reap() override;
  void let_go() override;

 private:
  LocalAgent(net::Poller& poller, Process process, std::function<void(const std::string&)> ended);

  net::Poller& poller_;
  Process process_;
  const std::function<void(const std::string&)> ended_;
};

}  // namespace piracema::cluster
