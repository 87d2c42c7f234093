#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "base/ids.h"
#include "store/snapshot/snapshot_store.h"

namespace piracema::runtime {

/// Puts the parts of replicas into a store, whole or piece by piece, in the order in which they
/// come. No thread inside.
class PartWriter {
 public:
  /// Whose part, and of which attempt.
  struct Of {
    Epoch epoch = 0;
    SnapshotId snapshot = 0;
    ReplicaId replica = 0;
  };

  /// `store` outlives it.
  explicit PartWriter(store::SnapshotStore& store) : store_(store) {}

  /// A piece of a part, to which `put` brings the end. What the replica had begun for another
  /// snapshot, or in another epoch, is given up. `put` says if it could not be stored.
  void add(const Of& of, Bytes piece);
  /// The part, or what follows its pieces.
  Result<store::Part> put(const Of& of, const store::PartContent& content);

 private:
  struct Begun {
    Epoch epoch = 0;
    SnapshotId snapshot = 0;
    std::uint64_t bytes = 0;
    /// Null after an error.
    std::unique_ptr<store::PartStream> stream{};
    std::optional<Error> error{};
  };

  store::SnapshotStore& store_;
  std::map<ReplicaId, Begun> begun_;
};

}  // namespace piracema::runtime
