#pragma once

#include <string>

#include "coll/mpi/probe_thread.h"
#include "coll/plan/settings.h"

namespace piracema::coll::mpi {

/// Writes what is known when the program ends, as one JSON object: docs/formats/coll.md. `trees`
/// holds a line for each tree that came into use. `probes` may be null.
Result<Done> write_report(const Settings&, Rank size, const ProbeThread* probes,
                          const std::string& trees);

}  // namespace piracema::coll::mpi
