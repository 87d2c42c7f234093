#pragma once

#include <string>

namespace piracema::ckpt {

/// The last line that a program has written to a file, for an error of one line; empty if there is
/// none, or it has written more than 64 KiB.
std::string last_line_of(const std::string& file);

}  // namespace piracema::ckpt
