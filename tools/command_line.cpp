#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "base/log.h"
#include "base/text.h"

namespace piracema::tools {

namespace {

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
    const std::string name = app->get_name();
    std::string words = concat("piracema ", name, " [OPTIONS] [--] APP ARGS...");
    if (name == "piracema")
      words = "piracema run|graph|snapshots|top|scale|doctor|new|kv|ckpt|coll [OPTIONS] ...";
    if (name == "coll")
      words =
          "piracema coll [OPTIONS] -- MPIRUN ARGS...\n       piracema coll report [--dot] FILE\n   "
          "    piracema coll doctor [--json]";
    if (name == "doctor") words = "piracema doctor [OPTIONS]";
    if (name == "new") words = "piracema new NAME";
    if (name == "top") words = "piracema top [OPTIONS] ADDRESS";
    if (name == "scale") words = "piracema scale [OPTIONS] ADDRESS [OPERATOR=N...]";
    if (name == "snapshots") words = "piracema snapshots [OPTIONS] DIR";
    if (name == "kv") words = "piracema kv demo|replica|keygen|put|get|... [OPTIONS] ...";
    if (name == "ckpt") words = "piracema ckpt run|save|stop|resume|list|... [OPTIONS] ...";
    if (app->get_parent() != nullptr && app->get_parent()->get_name() == "ckpt") {
      words = concat("piracema ckpt ", name, " [OPTIONS]",
                     name == "run" || name == "window" ? " -- PROGRAM ARGS..." : "");
    }
    if (app->get_parent() != nullptr && app->get_parent()->get_name() == "kv") {
      words = concat("piracema kv ", name, " [OPTIONS] ",
                     name == "keygen"                      ? "FILE"
                     : name == "replica" || name == "demo" ? ""
                                                           : "WORDS...");
    }
    return concat("Usage: ", words, "\n");
  }
};

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
      const bool is_command = !first.starts_with('-');
      log(Level::error,
          concat(error.what(), "; see piracema ", is_command ? first + " " : "", "--help"));
      return 2;
    }
    return check_output(run(), first == "run");
  } catch (const std::exception& error) {
    log(Level::error, error.what());
    return 3;
  }
}

}  // namespace piracema::tools
