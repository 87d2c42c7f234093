#pragma once

#include <filesystem>

namespace piracema::bench {

/// Compresses a file in blocks of 900 kB on `threads` plain threads that share nothing but the
/// number of the next block, and drops what comes out: the least that this work can take here.
/// Throws std::runtime_error when the file cannot be read.
void compress_and_drop(const std::filesystem::path& file, unsigned threads);

}  // namespace piracema::bench
