#include "smr/replica/replica_reads.h"

namespace piracema::smr {

bool ReplicaReads::execute(std::uint64_t token) {
  const auto found = waiting_.find(token);
  if (found == waiting_.end()) return false;
  Buffer operation = std::move(found->second);
  waiting_.erase(found);
  execution_.query(std::move(operation),
                   [this, token](const Buffer& result) { answer_(token, true, result); });
  return true;
}

void ReplicaReads::refuse(std::uint64_t token) {
  waiting_.erase(token);
  answer_(token, false, {});
}

void ReplicaReads::look(Time time) {
  const auto due = held_.due(time);
  if (due.empty()) return;
  for (const std::uint64_t token : due) {
    execution_.query(held_.operation(token), [this, token](const Buffer& result) {
      if (held_.told(token, result, now())) answer_(token, true, result);
    });
  }
  held_.asked(time, now());
}

}  // namespace piracema::smr
