#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>
#include <piracema/graph.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "flow/plan.h"
#include "run/sending/send_options.h"
#include "state/keyed_saver.h"
#include "state/restored_part.h"
#include "store/snapshot/snapshot_store.h"

namespace piracema::runtime {

/// What a replica begins with.
struct ReplicaInit : SendOptions {
  Context context;
  /// The state in `snapshot`; none at the beginning of the stream.
  std::optional<Buffer> state;
  SnapshotId snapshot = 0;
  /// What the snapshot says that its node's states are made of; empty: nothing.
  std::string layout;
  /// States by key: where they lie, and reads them there.
  state::WhereKeysLie keys;
  store::SnapshotStore* store = nullptr;
  /// Where states by key are to lie; null: in memory.
  StatePlace* place = nullptr;
  /// States by key that are here already, of this snapshot, as a former replica of the same node
  /// and index has kept them, and as they were read ahead; null: none.
  std::shared_ptr<state::KeptStates> kept, ahead;
  /// Destroys what is left of `kept`, in another thread if it is large; null: at once.
  std::function<void(std::shared_ptr<state::KeptStates>)> dispose;
  /// How many batches may be on their way from a replica; CreditPace::batches_max if nothing is
  /// said.
  std::unordered_map<ReplicaId, std::uint32_t> on_the_way;
  /// How much of what comes by back edges may wait. More is an error: nobody in a cycle waits for
  /// room, as all would wait for each other.
  std::size_t back_bytes_max = std::size_t{1} << 30;
  /// States by key are handed to who writes them in pieces of so many bytes, and no more are saved
  /// while more than `unwritten_bytes_max` of these are in memory.
  std::size_t piece_bytes = state::KeyedSaver::piece_bytes_usual;
  std::size_t unwritten_bytes_max = std::size_t{8} << 20;

  /// What is here already, each null or of whatever snapshot and groups.
  struct Here {
    std::shared_ptr<state::KeptStates> kept, ahead;
  };
  /// Reads what the replica goes on from, but for what of this snapshot is here already. `from`
  /// outlives the replica's `begin`.
  Result<Done> restore(store::SnapshotStore& from, SnapshotId snapshot, const GraphShape& shape,
                       const flow::ReplicaPlan& plan, Here here);
};

}  // namespace piracema::runtime
