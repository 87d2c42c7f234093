#pragma once

#include <doctest/doctest.h>
#include <piracema/detail/stored_states.h>

#include "base/engine.h"
#include "base/testing.h"
#include "state/disk/rocks.h"
#include "state/disk/state_directory.h"

namespace piracema::state::testing {

/// Where tests have states on disk, with little in memory.
inline StatePlace* place() {
  static const piracema::testing::ScratchDirectory folder;
  static const auto opened = StateDirectory::open(folder.path() + "/states", 4 << 20);
  REQUIRE(opened);
  return opened->get();
}

/// A test that needs it says that it is skipped.
inline bool is_there() {
  if (Rocks::load()) return true;
  MESSAGE("SKIPPED: no RocksDB here: scripts/setup --with-rocksdb");
  return false;
}

}  // namespace piracema::state::testing
