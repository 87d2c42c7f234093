#pragma once

#include <piracema/error.h>

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

/// What the parsers of commands have in common.
namespace piracema::tools {

/// Of commands that have to do with streams.
constexpr const char* stream_exit_codes =
    "Exit codes:\n"
    "  0 done   1 the job failed   2 usage   3 configuration   4 data is lost for good\n"
    "  75 stopped with a snapshot: go on with --resume   130, 143 ended by Ctrl-C, SIGTERM\n";

/// Sets `to` from the option's text by a function that gives a Result.
template <class T, class Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& names, const std::string& what, T& to,
                        Parse parse, const std::string& help) {
  return app
      .add_option_function<std::string>(
          names,
          [first = names.substr(0, names.find(',')), &to, parse](const std::string& text) {
            auto value = parse(text);
            if (!value) throw CLI::ValidationError(first, value.error().message);
            to = *std::move(value);
          },
          help)
      ->type_name(what);
}

/// Stands for the first "--" of words that are parsed for `program_words`: at a "--" the parser
/// ends a command of `app`, and knows none of the words behind it. No program gets it.
constexpr const char* program_mark = "\x1f--";

/// The program and all that follows it, options too, are the program's: what `app` did not know.
/// Errc::usage.
Result<std::vector<std::string>> program_words(const CLI::App& app);

}  // namespace piracema::tools
