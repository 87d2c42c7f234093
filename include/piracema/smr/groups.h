#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace piracema::smr {

/// The conflict groups that a request of `invoke_parallel` may name (paper 003, Algorithm 2): these
/// two, the number of an execution thread, or one made by `add_conflict_group`. A hint: replicas
/// that do not trust their clients hold it against StateMachine::keys.
constexpr std::uint32_t conflict_none = 0xFFFF'FFFF;
constexpr std::uint32_t conflict_all = 0xFFFF'FFFE;

/// Execution by the groups that clients name, as in paper 003, in place of StateMachine::keys.
struct ConflictGroups {
  /// Nobody holds a client's word against StateMachine::keys. Faster where operations are short,
  /// but one wrong label makes replicas differ.
  bool trust_clients = false;
  /// Besides one for each execution thread, conflict_none and conflict_all: a number that is no
  /// thread's, and the threads that come together for its requests (addExecutionConflictGroup).
  std::map<std::uint32_t, std::vector<unsigned>> added;
};

}  // namespace piracema::smr
