#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cluster/driver/beginning.h"
#include "cluster/driver/from.h"
#include "flow/states.h"

namespace piracema::cluster {

/// Whether the snapshots are of the program with this graph (`runtime::encode_shape`), and removes
/// those of a run that ended, and those that are discarded. Errc::config says which program was
/// wanted and found, or that what is to be resumed has states of other types
/// (`flow::state_types_of` the program), unless they were of these once or it `may_differ`. What
/// another version of the program takes from the snapshot, or converts, is said.
Result<Done> accept_job(const Beginning& beginning, const std::string& graph,
                        const flow::StateTypes& types = {}, const MayDiffer& may_differ = {});

/// Operators of the program with this graph, and how many replicas they have in the snapshot that
/// is gone on from, where that is another number; none if they cannot have those.
using Replicas = std::vector<std::pair<std::string, std::uint32_t>>;
Replicas kept_replicas(const Beginning& beginning, const std::string& graph);
/// That graph with these numbers.
std::string with_replicas(const std::string& graph, const Replicas& replicas);

/// Says what no snapshot will have (`flow::unsaved_states`), a line each. Errc::config if `strict`.
Result<Done> accept_unsaved(const std::vector<std::string>& unsaved, bool strict);

/// "reader > compress x4 > writer".
std::string outline(const std::string& graph);

}  // namespace piracema::cluster
