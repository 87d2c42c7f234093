#pragma once

#include <cstddef>

namespace piracema::detail {

/// Sizes of memory that is kept for the next Buffer instead of being given back: the system would
/// clear every page of it anew.
constexpr std::size_t kept_bytes_min = std::size_t{64} << 10, kept_bytes_max = std::size_t{4} << 20;

/// Memory of at least `capacity` bytes, which is then what there is of it. Throws std::bad_alloc.
void* take_memory(std::size_t& capacity);
/// What `take_memory` gave.
void give_memory(void* memory, std::size_t capacity);

}  // namespace piracema::detail
