#include "sim/test_place.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "base/testing.h"
#include "state/disk/state_directory.h"

namespace piracema::sim {

StatePlace* test_place() {
  if (std::getenv("PIRACEMA_TEST_ON_DISK") == nullptr) return nullptr;
  static const testing::ScratchDirectory folder;
  static const auto opened =
      state::StateDirectory::open(folder.path() + "/states", state::StateDirectory::memory_min);
  if (opened) return opened->get();
  MESSAGE("SKIPPED: ", opened.error().message);
  return nullptr;
}

}  // namespace piracema::sim
