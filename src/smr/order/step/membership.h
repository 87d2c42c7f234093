#pragma once

#include <cstddef>
#include <optional>

#include "smr/order/messages/messages.h"

namespace piracema::smr {

/// A member of the view: its identity, and its place there.
struct Sender {
  ReplicaId id = 0;
  std::size_t index = 0;
};

/// Who orders: the view that rules now, from which instance on, and this replica's place in it.
class Membership {
 public:
  Membership(ReplicaId me, View view);

  ReplicaId me() const { return me_; }
  const View& view() const { return view_; }
  bool byzantine() const { return view_.model == FaultModel::byzantine; }
  /// The first instance that its members order. What is older is decided, and votes on it are those
  /// of other members: their places mean somebody else here, or nobody.
  Instance first() const { return first_; }
  /// The place of this replica in it; none if it is no member.
  std::optional<std::size_t> own() const { return own_; }
  /// The place of a replica; none if it is no member.
  std::optional<std::size_t> index_of(ReplicaId id) const;

  /// From instance `first` on this view rules.
  void use(View view, Instance first);

 private:
  const ReplicaId me_;
  View view_;
  Instance first_ = 1;
  std::optional<std::size_t> own_;
};

}  // namespace piracema::smr
