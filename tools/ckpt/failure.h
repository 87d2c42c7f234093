#pragma once

#include <piracema/error.h>

namespace piracema::tools {

/// Says why; the exit code that `piracema ckpt --help` gives for it.
int fail_ckpt(const Error& error);

}  // namespace piracema::tools
