#pragma once

#include <cstddef>
#include <vector>

#include "smr/ids.h"

namespace piracema::smr {

/// What the members say that they have decided; hints, as some may lie. Pure.
class PeerProgress {
 public:
  explicit PeerProgress(std::size_t members) : decided_(members), voted_(members) {}

  void told(std::size_t member, Instance decided);
  /// It has voted there.
  void voted(std::size_t member, Instance instance);
  /// So many members say that they are that far, at least.
  Instance reached_by(std::size_t members) const;
  /// The newest place that it has spoken of: few say what they have decided while all is well, and
  /// all vote. For people; 0: it has said nothing yet.
  Instance newest_of(std::size_t member) const;
  /// Others are members now.
  void begin_view(std::size_t members) { *this = PeerProgress(members); }

 private:
  std::vector<Instance> decided_, voted_;
};

}  // namespace piracema::smr
