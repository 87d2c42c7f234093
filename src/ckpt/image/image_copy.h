#pragma once

#include <piracema/error.h>

#include <string>
#include <vector>

#include "ckpt/image/manifest.h"

namespace piracema::ckpt {

/// The parts of an image, from one directory into another one that is empty; synced, and read as
/// the manifest says. What is written is synced piece by piece, so that whoever ends this process
/// does not wait for a store. Errc::corrupt for a part that is not what the manifest says,
/// Errc::io.
Result<Done> copy_image(const std::string& from, const std::string& to, const Manifest& manifest);

/// The words of a program's `run_copy`, which does it in a process of its own.
std::vector<std::string> copy_command(const std::string& program, const std::string& from,
                                      const std::string& to, const std::string& manifest);

/// `words` are those behind `copy_command`'s first ones: the exit code. What went wrong is a line
/// of standard output. It ends with the process that has started it.
int run_copy(const std::vector<std::string>& words);

}  // namespace piracema::ckpt
