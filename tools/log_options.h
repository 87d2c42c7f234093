#pragma once

#include <CLI/App.hpp>
#include <string>

/// How commands log that run for long.
namespace piracema::tools {

/// Adds --log-format, --log-directory and --log-file-size, which count at once and for all
/// processes that this one starts.
void add_log_options(CLI::App& app);

/// Names the process in its log, which has times if nobody has said how it is to be written: nobody
/// looks on.
void log_as_service(std::string name);

}  // namespace piracema::tools
