#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "smr/view.h"

namespace piracema::smr {

/// Between replicas, beside replica_message_kind (client_wire.h): what one says of its memory when
/// a link stands, and while it is silent. docs/formats/smr_wire.md.
constexpr std::uint8_t life_kind = 8;
struct LifeTold {
  /// Of the memory: Storage has it.
  std::uint64_t life = 0;
  /// This life began with a loss, and the replica has said so to itself.
  bool lost = false;
  /// It has yet to regain what it had promised.
  bool silent = false;
  auto fields() { return std::tie(life, lost, silent); }
};
/// "You had another life, and you do not say that you have lost it."
constexpr std::uint8_t life_refused_kind = 9;
struct LifeRefused {
  /// Of whom it is said.
  std::uint64_t life = 0;
  auto fields() { return std::tie(life); }
};

/// What a replica remembers of the memories of the others, so that one that was started as if for
/// the first time, but had been there before, is found out: it would vote against its own promises.
/// Pure.
class PeerLives {
 public:
  /// What a former life of this process has written down. Errc::corrupt.
  Result<Done> restore(Bytes bytes);
  Buffer encode() const;

  enum class Heard { known, fresh, forgetful };
  /// `fresh`: it is to be written down. `forgetful`: it has another memory than the one that is
  /// known, and does not say that it was lost; nothing that it says counts until it does.
  Heard hear(ReplicaId from, const LifeTold& told);
  bool is_forgetful(ReplicaId id) const { return forgetful_.contains(id); }
  bool is_silent(ReplicaId id) const { return silent_.contains(id); }

  /// Somebody refuses this replica's life: true once so many have that one of them is correct.
  bool refused_by(ReplicaId from, const View& view);

 private:
  std::map<ReplicaId, std::uint64_t> lives_;
  std::set<ReplicaId> forgetful_, silent_, refused_by_;
};

}  // namespace piracema::smr
