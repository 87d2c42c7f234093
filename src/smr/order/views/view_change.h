#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "smr/view.h"

namespace piracema::smr {

/// What an administrator asks for: the operation of a request of Kind::reconfigure. To replace a
/// replica is to remove one and to add one.
struct ViewChange {
  /// The view that it is meant for; in any other it changes nothing.
  ViewId from = 0;
  std::vector<ReplicaId> remove;
  std::vector<MemberInfo> add;
  std::optional<std::uint32_t> f;
  /// Who leads now, as whoever asks was told: it leads the next view first if it stays, so that a
  /// change deposes nobody. Else, or without it, the lowest id does.
  std::optional<ReplicaId> leader;
  auto fields() { return std::tie(from, remove, add, f, leader); }
};
Buffer encode(ViewChange change);

/// Errc::corrupt for other bytes; Errc::refused if it is meant for another view; Errc::config if
/// what comes of it is no view. The same on all replicas.
Result<View> next_view(const View& now, Bytes operation);

}  // namespace piracema::smr
