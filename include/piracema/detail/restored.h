#pragma once

#include <cstddef>

namespace piracema::detail {

/// The calling thread has read or taken over so many bytes of a state. While it says so now and
/// then, its process is not taken for stuck, however large the state is.
void note_restored(std::size_t bytes);

}  // namespace piracema::detail
