#pragma once

#include <piracema/detail/keyed_states.h>

#include <memory>

#include "base/engine.h"
#include "base/ids.h"
#include "state/saved_files.h"

namespace piracema::state {

/// What a replica that has come to its end leaves to the one that follows it in the same process:
/// its states by key, exactly as they are in `snapshot`, so that nobody has to read them there.
struct KeptStates {
  SnapshotId snapshot = 0;
  /// The groups that it owned: all their keys are here.
  GroupRange owned;
  std::unique_ptr<KeyedStates> states;
  SavedFiles::Kept files;
};

}  // namespace piracema::state
