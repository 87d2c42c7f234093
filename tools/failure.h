#pragma once

#include <piracema/error.h>

/// Say why a command has failed, and give its exit code.
namespace piracema::tools {

/// 2 for words that are wrong, else 3.
int fail(const Error& error);
/// Of a command that asks a group: 1 where that says no, or nothing.
int fail_asked(const Error& error);

}  // namespace piracema::tools
