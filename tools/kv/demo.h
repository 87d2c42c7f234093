#pragma once

#include <string>

namespace piracema::tools {

/// `piracema kv demo`: a group in one terminal, and commands for it on standard input; the exit
/// code. `directory` is one that goes at the end if it is empty.
int kv_demo(bool byzantine, bool durable, const std::string& directory, bool json);

}  // namespace piracema::tools
