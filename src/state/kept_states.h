#pragma once

#include <piracema/detail/keyed_states.h>

#include <memory>

#include "base/engine.h"
#include "base/ids.h"
#include "state/saved_files.h"

namespace piracema::state {

/// States by key exactly as they are in `snapshot`, so that nobody has to read them there: what a
/// replica that has come to its end leaves to the one that follows it in the same process, or what
/// was read ahead.
struct KeptStates {
  SnapshotId snapshot = 0;
  /// All keys of these groups are here.
  GroupRange owned;
  std::unique_ptr<KeyedStates> states;
  SavedFiles::Kept files;
};

}  // namespace piracema::state
