#pragma once

#include <string>

namespace piracema::tools {

/// `piracema ckpt doctor`: prints what this machine lacks; the exit code, 1 if something is
/// missing. `criu`: the one to use, or empty.
int show_doctor(const std::string& criu, bool as_json);

}  // namespace piracema::tools
