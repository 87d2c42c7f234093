#pragma once

#include <piracema/error.h>

#include <cstddef>
#include <string>
#include <vector>

#include "bench/common/command.h"

/// Programs of this build as sides of a comparison.
namespace piracema::bench {

/// Where this build has `path`, as "bench/p2p_app".
std::string built(const std::string& path);

/// `piracema run --quiet` with options of its own and a command.
std::vector<std::string> under_piracema(const std::vector<std::string>& options,
                                        const std::vector<std::string>& command);

/// Runs a program that prints the seconds that count, without its start: they are `wall_s`.
/// Errc::failed, with its last words, if it fails.
Result<Sample> run_timed(const std::vector<std::string>& command);

/// Runs a program whose processes print "start SECONDS", "end SECONDS" and "items COUNT" by the
/// steady clock: from the first start to the last end, and all items. Errc::failed, too, when the
/// items are not `items`.
Result<Sample> run_marked(const std::vector<std::string>& command, std::size_t items);

}  // namespace piracema::bench
