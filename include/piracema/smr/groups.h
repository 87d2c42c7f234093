#pragma once

#include <cstdint>

namespace piracema::smr {

/// The conflict groups that a request of `invoke_parallel` may name (paper 003, Algorithm 2): these
/// two, the number of an execution thread, or one made by `add_conflict_group`. A hint: replicas
/// that do not trust their clients hold it against StateMachine::keys.
constexpr std::uint32_t conflict_none = 0xFFFF'FFFF;
constexpr std::uint32_t conflict_all = 0xFFFF'FFFE;

}  // namespace piracema::smr
