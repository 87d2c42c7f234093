#pragma once

#include <piracema/error.h>

namespace piracema::tools {

/// Says why; the exit code that `piracema ckpt --help` gives for it.
int fail(const Error& error);

}  // namespace piracema::tools
