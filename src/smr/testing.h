#pragma once

#include <string>

#include "smr/view.h"

/// What the tests of this room share.
namespace piracema::smr {

/// As many of its members may fail as their number bears.
inline View test_view(FaultModel model = FaultModel::crash, std::uint32_t n = 3) {
  View view{.model = model};
  view.f = (n - 1) / (model == FaultModel::byzantine ? 3 : 2);
  for (ReplicaId id = 0; id < n; ++id) view.members.push_back({id, "r" + std::to_string(id), ""});
  return view;
}

}  // namespace piracema::smr
