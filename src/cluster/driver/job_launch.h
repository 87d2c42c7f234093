#pragma once

#include "cluster/driver/driver.h"
#include "os/process.h"

namespace piracema::cluster {

class Succession;

/// How the processes of a job are started, wherever they are. `succession` may be null.
Launch launch_of(const JobOptions& options, const Doorway& doorway, const Succession* succession);

}  // namespace piracema::cluster
