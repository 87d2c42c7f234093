#include "tools/log_options.h"

#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"

namespace piracema::tools {

namespace {

// Processes that are started from here on have them in their environment.
void hand_on() {
  for (const std::string& variable : log_environment()) {
    const std::size_t equals = variable.find('=');
    const std::string name = variable.substr(0, equals), value = variable.substr(equals + 1);
    if (value.empty()) {
      ::unsetenv(name.c_str());
    } else {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
}

}  // namespace

void add_log_options(CLI::App& app) {
  app.add_option_function<std::string>(
         "--log-format",
         [](const std::string& name) {
           const auto format = parse_log_format(name);
           if (!format) throw CLI::ValidationError("--log-format", format.error().message);
           set_log_format(*format);
           hand_on();
         },
         "Log lines with time and level: text, or json, an object a\n"
         "line; of all its processes. Default: short lines")
      ->type_name("text|json");
  app.add_option_function<std::string>(
         "--log-directory",
         [](const std::string& directory) {
           const auto done = set_log_directory(std::filesystem::absolute(directory).string());
           if (!done) throw CLI::ValidationError("--log-directory", done.error().message);
           hand_on();
         },
         "Directory for the log as well, a file for each host and\n"
         "process, appended to")
      ->type_name("DIR");
  app.add_option_function<std::string>(
         "--log-file-size",
         [](const std::string& text) {
           const auto bytes = text == "0" ? Result<std::uint64_t>(0) : parse_bytes(text);
           if (!bytes) throw CLI::ValidationError("--log-file-size", bytes.error().message);
           use_log_environment({concat("PIRACEMA_LOG_FILE_SIZE=", *bytes)});
           hand_on();
         },
         "Before a file there is larger it becomes FILE.1, in place of\n"
         "the one before; 0: never; default: 64MiB")
      ->type_name("SIZE");
}

void log_as_service(std::string name) {
  if (log_format() == LogFormat::brief) set_log_format(LogFormat::text);
  set_log_process(std::move(name));
}

}  // namespace piracema::tools
