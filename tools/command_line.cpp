#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/text.h"

namespace piracema::tools {

namespace {

/// What follows a command.
struct Usage {
  std::string_view command, words;
};
constexpr Usage usages[] = {
    {"piracema",
     "piracema run|graph|snapshots|savepoint|top|scale|doctor|new|cluster|kv|ckpt|coll [OPTIONS] "
     "..."},
    {"run", "piracema run [OPTIONS] [--] APP ARGS..."},
    {"graph", "piracema graph [OPTIONS] [--] APP ARGS..."},
    {"snapshots", "piracema snapshots [OPTIONS] DIR"},
    {"top", "piracema top [OPTIONS] ADDRESS"},
    {"scale", "piracema scale [OPTIONS] ADDRESS [OPERATOR=N...]"},
    {"savepoint", "piracema savepoint [OPTIONS] ADDRESS NAME"},
    {"doctor", "piracema doctor [OPTIONS]"},
    {"new", "piracema new NAME"},
    {"cluster", "piracema cluster start|init|node|submit|jobs|... [OPTIONS] ..."},
    {"cluster init", "piracema cluster init [OPTIONS] NODES..."},
    {"cluster submit", "piracema cluster submit [OPTIONS] -- PROGRAM ARGS..."},
    {"cluster logs", "piracema cluster logs [OPTIONS] JOB"},
    {"cluster wait", "piracema cluster wait [OPTIONS] JOB"},
    {"cluster cancel", "piracema cluster cancel [OPTIONS] JOBS..."},
    {"cluster drain", "piracema cluster drain [OPTIONS] NODE"},
    {"kv", "piracema kv demo|replica|keygen|put|get|... [OPTIONS] ..."},
    {"kv keygen", "piracema kv keygen [OPTIONS] FILE"},
    {"kv replica", "piracema kv replica [OPTIONS]"},
    {"kv demo", "piracema kv demo [OPTIONS]"},
    {"coll",
     "piracema coll [OPTIONS] -- MPIRUN ARGS...\n       piracema coll report [--dot] FILE\n   "
     "    piracema coll doctor [--json]"},
    {"ckpt", "piracema ckpt run|save|stop|resume|list|... [OPTIONS] ..."},
    {"ckpt run", "piracema ckpt run [OPTIONS] -- PROGRAM ARGS..."},
    {"ckpt window", "piracema ckpt window [OPTIONS] -- PROGRAM ARGS..."},
};

/// Says what the parser does not know: that a program and its arguments follow.
class HelpText : public CLI::Formatter {
 public:
  HelpText() { column_width(28); }

 private:
  // What an option excludes is said in its text.
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 ? "" : " " + option->get_type_name();
  }
  std::string make_usage(const CLI::App* app, std::string) const override {
    std::string name = app->get_name();
    const CLI::App* const parent = app->get_parent();
    const bool is_below = parent != nullptr && parent->get_parent() != nullptr;
    if (is_below) name = concat(parent->get_name(), " ", name);
    for (const Usage& usage : usages) {
      if (name == usage.command) return concat("Usage: ", usage.words, "\n");
    }
    const std::string words =
        concat("piracema ", name, " [OPTIONS]", name.starts_with("kv ") ? " WORDS..." : "");
    return concat("Usage: ", words, "\n");
  }
};

/// "kv put ": the commands that the parser has come to, each with a space behind it.
std::string commands_found(const CLI::App& app) {
  std::string words;
  for (auto found = app.get_subcommands(); !found.empty();
       found = found.front()->get_subcommands()) {
    words += found.front()->get_name() + " ";
  }
  return words;
}

/// What is missing behind a product's name, or is none of its commands; the parser would say only
/// that there is none.
std::optional<std::string> no_command(const CLI::App& app, int argc, char** argv) {
  const auto found = app.get_subcommands();
  if (found.empty() || !found.front()->get_subcommands().empty()) return std::nullopt;
  const CLI::App& product = *found.front();
  if (product.get_require_subcommand_min() == 0) return std::nullopt;
  std::string names;
  for (const CLI::App* command : product.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) names += (names.empty() ? "" : ", ") + command->get_name();
  }
  const std::string word = argc > 2 ? argv[2] : "";
  if (word.empty() || word.starts_with('-')) return concat("want a command: ", names);
  return concat("unknown command '", word, "': want ", names);
}

/// Of a number that is none the parser says "Could not convert: --id = x".
std::optional<std::string> no_number(const std::string& said) {
  constexpr std::string_view begins = "Could not convert: ", is = " = ";
  const auto value = said.find(is);
  if (!said.starts_with(begins) || value == said.npos) return std::nullopt;
  return concat(said.substr(begins.size(), value - begins.size()), ": want a number, found '",
                said.substr(value + is.size()), "'");
}

// What was asked for and could not be written is a failure; a job that is done stays done.
int check_output(int code, bool is_job) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  log(is_job ? Level::warning : Level::error, "standard output: not all could be written");
  return code == 0 && !is_job ? 1 : code;
}

}  // namespace

std::unique_ptr<CLI::App> make_command_line() {
  auto app = std::make_unique<CLI::App>(
      "Runs stream-processing programs that survive the loss of their processes.");
  app->name("piracema");
  app->set_version_flag("--version", "piracema " PIRACEMA_VERSION);
  app->formatter(std::make_shared<HelpText>());
  return app;
}

int run_command_line(CLI::App& app, int argc, char** argv, const std::function<int()>& run) {
  const std::string first = argc > 1 ? argv[1] : "";
  try {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0)
        return check_output(app.exit(error), first == "run");  // Help or version.
      const std::string said = no_number(error.what()).value_or(error.what());
      const std::string why = no_command(app, argc, argv).value_or(said);
      log(Level::error, concat(why, "; see piracema ", commands_found(app), "--help"));
      return 2;
    }
    return check_output(run(), first == "run");
  } catch (const std::exception& error) {
    log(Level::error, error.what());
    return 3;
  }
}

}  // namespace piracema::tools
