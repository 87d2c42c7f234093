#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cluster/driver/driver.h"
#include "host/agent_messages.h"

namespace piracema::cluster {

class Succession;

/// A path that means the same on every host; an address stays as it is.
std::string as_absolute(const std::string& path);

/// What agents are told of the processes that they will start.
class AgentSetup {
 public:
  /// `options` and `succession` outlive this; `succession` may be null. `environment` is that of
  /// all processes of the job, `mark` a file that other hosts have to see, or empty.
  AgentSetup(const JobOptions& options, const Succession* succession,
             std::vector<std::string> environment, std::string mark)
      : options_(options),
        succession_(succession),
        environment_(std::move(environment)),
        mark_(std::move(mark)) {}

  /// The one on that host, which reaches us at `coordinator`.
  Setup on(std::size_t host, const std::string& coordinator) const;
  /// Where all coordinators of the job are by now, if there are several.
  std::vector<std::string> coordinators() const;

 private:
  const JobOptions& options_;
  const Succession* const succession_;
  const std::vector<std::string> environment_;
  const std::string mark_;
};

}  // namespace piracema::cluster
