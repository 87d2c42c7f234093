#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <string>

#include "base/fd.h"
#include "host/agent_call.h"
#include "loop/poller.h"
#include "os/process.h"

namespace piracema::cluster {

/// An agent on this host: a process that starts those of a job here, told of it by a socket that
/// nobody else has. It ends with this object, and dies with the thread
/// that has started it, and its processes with it, unless it is to outlive that. Belongs to the
/// poller's thread.
class LocalAgent : public AgentCall {
 public:
  struct Settings {
    /// Has `run_agent`.
    std::string agent;
    /// What it starts.
    std::string program;
    /// As HostCall has it.
    std::string first_line;
    /// It has our standard input, or none.
    bool hand_on_input = false;
    /// It has our standard error in place of our standard output, which then ends with us.
    bool output_to_error = false;
    /// It is in a session of its own, and goes on without us, so that the next coordinator finds
    /// what it has started.
    bool outlives_us = false;
  };

  /// `ended` is called once, when it has ended; how. It must not destroy this. Errc::config if it
  /// cannot be started.
  static Result<std::unique_ptr<LocalAgent>> start(net::Poller& poller, const Settings& settings,
                                                   std::function<void(const std::string&)> ended);
  ~LocalAgent() override;

  /// Our end of its socket, once. It does not block.
  Fd take_line() { return std::move(line_); }

  void reap() override;
  void let_go() override;

 private:
  LocalAgent(net::Poller& poller, Process process, Fd line,
             std::function<void(const std::string&)> ended);

  net::Poller& poller_;
  Process process_;
  Fd line_;
  const std::function<void(const std::string&)> ended_;
};

}  // namespace piracema::cluster
