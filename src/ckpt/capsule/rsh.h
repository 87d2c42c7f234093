#pragma once

#include <string>
#include <vector>

namespace piracema::ckpt {

/// Calls a door (door.h) and has words run behind it: `ckpt rsh [OPTIONS] HOST WORDS...`, with
/// options of ssh, which change nothing. A shell there runs them, with our standard input, output
/// and error. Its exit code; 255 if the host cannot be reached.
int run_rsh(const std::vector<std::string>& words);

}  // namespace piracema::ckpt
