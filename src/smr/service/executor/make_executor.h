#pragma once

#include <piracema/error.h>
#include <piracema/smr/groups.h>

#include <memory>
#include <optional>

#include "smr/service/executor/executor.h"
#include "smr/service/executor/thrift.h"

namespace piracema::smr {

/// By StateMachine::keys, or by clients' groups if there are `groups`; one by one for less than two
/// threads. Errc::config with one line for too many threads, or for groups of threads that are not
/// there. `machine` outlives it.
Result<std::unique_ptr<Executor>> make_executor(StateMachine& machine, unsigned threads,
                                                const std::optional<ConflictGroups>& groups,
                                                const Prices& prices = {});

}  // namespace piracema::smr
