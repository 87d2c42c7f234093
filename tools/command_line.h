#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <memory>
#include <string_view>

namespace piracema::tools {

/// The parser of `piracema`, still without commands: its name, version and the form of its help.
std::unique_ptr<CLI::App> make_command_line();

/// Parses the words and calls `run`. Gives the exit code: 2 for words that are wrong, which are
/// said on standard error; 1 where a command that answers on standard output could not write all of
/// it.
int run_command_line(CLI::App& app, int argc, char** argv, const std::function<int()>& run);

}  // namespace piracema::tools
