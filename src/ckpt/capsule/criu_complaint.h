#pragma once

#include <string>
#include <string_view>

namespace piracema::ckpt {

/// What an error of criu's means for whoever runs the job, and what to do about it; empty for one
/// that is not known. `error` is from its log: "Error (criu/sk-inet.c:191): inet: …".
std::string meaning_of_criu_error(std::string_view error);

/// One line: the meaning with the error behind it, or that alone.
std::string explain_criu_error(std::string_view error);

}  // namespace piracema::ckpt
