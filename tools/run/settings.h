#pragma once

#include <piracema/error.h>

#include <CLI/App.hpp>
#include <string>

namespace piracema::tools {

/// Gives the options of `command` that were not on the command line the value that they have in
/// the environment (PIRACEMA_NAME) or, failing that, in a file of settings (TOML):
///
///     [run]
///     workers = 4
///     snapshots = "/var/tmp/job"
///
/// An empty `file` is ./piracema.toml, if there is one. Errc::config names the variable, or the
/// file and the key, that is wrong or unknown.
Result<Done> apply_settings(CLI::App& command, const std::string& file);

}  // namespace piracema::tools
