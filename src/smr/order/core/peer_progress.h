#pragma once

#include <cstddef>
#include <vector>

#include "smr/ids.h"

namespace piracema::smr {

/// What the members say that they have decided; hints, as some may lie. Pure.
class PeerProgress {
 public:
  explicit PeerProgress(std::size_t members) : decided_(members) {}

  void told(std::size_t member, Instance decided);
  /// So many members say that they are that far, at least.
  Instance reached_by(std::size_t members) const;
  /// Others are members now.
  void begin_view(std::size_t members) { decided_.assign(members, 0); }

 private:
  std::vector<Instance> decided_;
};

}  // namespace piracema::smr
