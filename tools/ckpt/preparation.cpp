#include "tools/ckpt/preparation.h"

#include <CLI/CLI.hpp>
#include <optional>

#include "base/parse.h"
#include "base/text.h"

namespace piracema::tools {

namespace {

// What a command is given goes to its capsule in so many bits.
constexpr Time most = std::chrono::hours(24);

Result<std::optional<Time>> parse_bound(const char* option, const std::string& text) {
  if (text.empty()) return std::optional<Time>();
  const auto time = parse_duration(text);
  if (!time) return Error{Errc::usage, concat(option, ": ", time.error().message)};
  if (*time > most) return Error{Errc::usage, concat(option, ": want at most 24h; found ", text)};
  return std::optional<Time>(*time);
}

}  // namespace

void add_preparation_options(CLI::App& app, PreparationOptions& options) {
  app.add_option("--good-moment-within", options.good_moment_within,
                 "An image waits so long for the program to say that it is\nsmall "
                 "(piracema/ckpt.h); default: not at all");
  app.add_option("--before-save", options.before_save,
                 "Command that is run beside the program before an image");
  app.add_option("--after-restore", options.after_restore,
                 "Command that is run beside the program when it goes on\nfrom an image");
  app.add_option("--command-within", options.command_within,
                 "In so long each of them is killed; default: 10s");
}

std::vector<std::string> words_of(const PreparationOptions& options) {
  std::vector<std::string> words = {"--command-within", options.command_within};
  const auto add = [&](const char* option, const std::string& text) {
    if (!text.empty()) words.insert(words.end(), {option, text});
  };
  add("--good-moment-within", options.good_moment_within);
  add("--before-save", options.before_save);
  add("--after-restore", options.after_restore);
  return words;
}

Result<Done> apply_preparation(const PreparationOptions& options, ckpt::RunSettings& settings) {
  const auto moment = parse_bound("--good-moment-within", options.good_moment_within);
  if (!moment) return moment.error();
  const auto command = parse_bound("--command-within", options.command_within);
  if (!command) return command.error();
  settings.keeper.before_save.moment = *moment;
  settings.commands.before_save = options.before_save;
  settings.commands.after_restore = options.after_restore;
  if (!options.before_save.empty()) settings.keeper.before_save.command = *command;
  if (!options.after_restore.empty()) settings.keeper.after_restore = *command;
  return Done{};
}

}  // namespace piracema::tools
