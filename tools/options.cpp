#include "tools/options.h"

#include <algorithm>

#include "base/text.h"

namespace piracema::tools {

namespace {

Error wrong(std::string message) { return {Errc::usage, std::move(message)}; }

}  // namespace

Result<std::vector<std::string>> program_words(const CLI::App& app) {
  std::vector<std::string> command = app.remaining();
  if (!command.empty() && command.front() == program_mark) command.erase(command.begin());
  std::replace(command.begin(), command.end(), std::string(program_mark), std::string("--"));
  if (command.empty()) {
    return wrong(concat("want the program to ", app.get_name(), ", found none; see piracema ",
                        app.get_name(), " --help"));
  }
  if (command.front().starts_with('-')) {
    return wrong(
        concat("unknown option '", command.front(), "'; see piracema ", app.get_name(), " --help"));
  }
  return command;
}

}  // namespace piracema::tools
