#pragma once

#include <piracema/error.h>

#include <string>
#include <utility>
#include <vector>

#include "host/staging.h"

namespace piracema::cluster {

/// What is brought to other hosts: an agent and the program, as they are when the first one asks.
class StagedProgram {
 public:
  StagedProgram(std::string agent, std::string program)
      : paths_{std::move(agent), std::move(program)} {}

  /// For one more host. Errc::config when something of ours is missing.
  Result<Staging> staging();

 private:
  const std::vector<std::string> paths_;
  std::vector<StagedFile> files_;
  std::string directory_;
};

}  // namespace piracema::cluster
