#pragma once

#include <piracema/bytes.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "smr/ids.h"
#include "smr/service/reply.h"

namespace piracema::smr {

/// Replies of several replicas to one request: which so many agree on. Each replica counts once,
/// with the last that it said.
class Tally {
 public:
  struct Answer {
    ReplyStatus status = ReplyStatus::done;
    Buffer result;
  };

  /// The answer that `enough` replicas have given, once there is one.
  const Answer* add(ReplicaId from, ReplyStatus status, Bytes result, std::size_t enough);
  /// Different replicas so far, and the most that agree.
  std::size_t replicas() const;
  std::size_t agreeing() const;
  void clear() { choices_.clear(); }

 private:
  struct Choice {
    Answer answer;
    std::vector<ReplicaId> by;
  };
  std::vector<Choice> choices_;
};

}  // namespace piracema::smr
