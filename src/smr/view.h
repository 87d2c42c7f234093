#pragma once

#include <piracema/error.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "smr/ids.h"

namespace piracema::smr {

/// What a faulty replica may do (paper 003, section 2.1: the same system for both).
enum class FaultModel : std::uint8_t {
  crash,      ///< It stops, or loses what it had not written: n >= 2f + 1.
  byzantine,  ///< It does anything, together with others: n >= 3f + 1.
};

constexpr FaultModel fault_model(bool byzantine) {
  return byzantine ? FaultModel::byzantine : FaultModel::crash;
}

struct MemberInfo {
  ReplicaId id = 0;
  /// "host:port", where replicas and clients reach it.
  std::string address;
  /// Ed25519, 64 hexadecimal digits.
  std::string public_key;
  auto fields() { return std::tie(id, address, public_key); }
};

/// Who takes part, and how many of them may fail. A value: a reconfiguration makes the next one.
struct View {
  ViewId id = 0;
  FaultModel model = FaultModel::crash;
  std::uint32_t f = 1;
  /// The leader of the first regency, and from there on by ascending id, behind the highest the
  /// lowest.
  std::vector<MemberInfo> members;

  std::size_t n() const { return members.size(); }
  /// Any two quorums have a correct replica in common (paper 003, section 2.1): more than
  /// (n + f) / 2 of n among liars, more than n / 2 among crashes.
  std::size_t quorum() const;
  /// So many hold at least one that is correct: f + 1 among liars, 1 among crashes.
  std::size_t one_correct() const { return model == FaultModel::byzantine ? f + 1 : 1; }
  /// So many have to sign that a view follows on this one, for others to believe it. Where nobody
  /// lies one is enough, as nobody signs what is not decided; and it has to be: the others of a
  /// quorum may be the ones that are replaced, or crash before they have signed.
  std::size_t prove_next() const { return model == FaultModel::byzantine ? quorum() : 1; }
  bool has(ReplicaId) const;
  /// The regencies go round the members.
  ReplicaId leader(Regency regency) const { return members[regency % n()].id; }
  /// This member leads the first regency.
  void begin_with(ReplicaId leader);
  auto fields() { return std::tie(id, model, f, members); }
};

/// Led by the lowest id first. Errc::config with one line for n too small for f, no members, one
/// identity or address twice.
Result<View> validate(View view);

}  // namespace piracema::smr
