#pragma once

#include <piracema/smr/state_machine.h>

#include "smr/kv/format.h"

namespace piracema::smr::kv {

/// What an operation reads and writes, as StateMachine::keys says it: shards by their numbers, and
/// the leases.
Keys conflicts_of(const Operation& operation);

}  // namespace piracema::smr::kv
