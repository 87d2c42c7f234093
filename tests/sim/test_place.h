#pragma once

#include <piracema/detail/stored_states.h>

#include "base/engine.h"

namespace piracema::sim {

/// Where the states by key of a test lie: in memory (null), or on disk with PIRACEMA_TEST_ON_DISK
/// in the environment. Says that the test is skipped if that cannot be.
StatePlace* test_place();

}  // namespace piracema::sim
