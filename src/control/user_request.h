#pragma once

#include <string>
#include <variant>

#include "control/scale_request.h"

namespace piracema::cluster {

/// A snapshot with a name, which stays until the name is deleted. No items are under way in it, so
/// the job can go on from it with other numbers of replicas, and as another version of its program.
struct SavepointRequest {
  /// As `store::check_savepoint_name` wants it.
  std::string name;
};

/// What a user wants of a job that runs, and that goes on.
using UserRequest = std::variant<ScaleRequest, SavepointRequest>;

}  // namespace piracema::cluster
