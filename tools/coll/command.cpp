#include "tools/coll/command.h"

#include <piracema/error.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "coll/plan/settings.h"
#include "tools/coll/doctor.h"
#include "tools/coll/launcher.h"
#include "tools/coll/mpi.h"
#include "tools/coll/report.h"
#include "tools/failure.h"
#include "tools/http_options.h"
#include "tools/log_options.h"
#include "tools/product.h"

namespace piracema::tools {

namespace {

constexpr const char* footer =
    "Examples:\n"
    "  piracema coll -- mpirun -n 24 ./app\n"
    "  piracema coll --engine mst --report job.json -- mpirun -n 24 ./app\n"
    "  piracema coll --http -- mpirun -n 24 ./app\n"
    "  piracema coll report job.json          what was known of the links, and the trees\n"
    "  piracema coll report --dot job.json    the last tree, for Graphviz\n"
    "  piracema coll doctor --json            the MPIs of this machine; exit code 1: none will do\n"
    "\n"
    "Exit codes: that of the launcher; 2 usage; 3 no library for this MPI, no such report\n";

}  // namespace

CollCommand::CollCommand(CLI::App& app) {
  coll_ = app.add_subcommand("coll", product_help("coll"));
  coll_->prefix_command();
  coll_->footer(footer);
  coll_->add_option("--engine", engine_, "auto, tree, mst, two-level, binomial, native");
  coll_->add_option("--report", report_, "File for what was known and done, as JSON");
  coll_->add_option("--emulate", emulate_, "For tests: file of link delays");
  coll_->add_option(
      "--mpi", mpi_,
      "openmpi, mpich, or an MPI in another place by its name (see piracema coll doctor); "
      "default: the launcher's own");
  coll_->add_option(
      "--library", library_,
      "libpiracema_coll.so for an MPI in another prefix; default: beside this command");
  coll_->add_option("--interface", interface_,
                    "Network interface, or its address, by which hosts reach each other; default: "
                    "the one that routes to them");
  coll_->add_flag("--fixed-order", fixed_order_,
                  "Reductions combine in the order of ranks: the same bits each time");
  coll_->add_flag("--any-order", any_order_,
                  "With auto: reductions may have other last bits than the MPI library's own");
  add_http_options(*coll_, "the job", http_, http_token_);
  coll_->add_option("--figures", figures_,
                    "With --http, where rank 0 runs on another host: a file that it and this one\n"
                    "see, by which rank 0 shows itself; default: one in a temporary folder here");
  add_log_options(*coll_);
}

int CollCommand::take_launcher(int argc, char** argv) {
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    launcher_.assign(argv + i + 1, argv + argc);
    return i;
  }
  return argc;
}

int CollCommand::run() {
  if (!figures_.empty() && http_.empty()) {
    log(Level::error, "--figures is for --http, which was not given");
    return 2;
  }
  std::vector<std::string> words = coll_->remaining();
  words.insert(words.end(), launcher_.begin(), launcher_.end());
  if (!words.empty() && words.front() == "report") {
    return coll_report({words.begin() + 1, words.end()});
  }
  if (!words.empty() && words.front() == "doctor") {
    if (words.size() == 1) return coll_doctor(false);
    if (words.size() == 2 && words[1] == "--json") return coll_doctor(true);
    log(Level::error, "want piracema coll doctor [--json]");
    return 2;
  }
  if (words.empty() || words.front().starts_with('-')) {
    log(Level::error,
        words.empty() ? "want the launcher, such as mpirun -n 4 ./app, found none; "
                        "see piracema coll --help"
                      : concat("unknown option '", words.front(), "'; see piracema coll --help"));
    return 2;
  }
  return start(std::move(words));
}

Result<std::string> CollCommand::find_library(const std::string& launcher,
                                              const std::string& mpi) const {
  if (!library_.empty()) {
    if (std::filesystem::exists(library_)) return library_;
    return Error{Errc::config, concat("--library: there is no ", library_)};
  }
  const auto found = mpi_.empty() ? library_for(launcher, mpi) : library_called(mpi_);
  if (!found) return found.error();
  return found->file.string();
}

Result<std::unique_ptr<CollPage>> CollCommand::open_page(const std::vector<std::string>& command,
                                                         const std::string& mpi) const {
  if (http_.empty()) return std::unique_ptr<CollPage>();
  return CollPage::start({.address = http_, .token_file = http_token_}, figures_,
                         {command, mpi, now()});
}

int CollCommand::start(std::vector<std::string> command) {
  const auto checked = coll::read_settings([&](const char* name) -> const char* {
    return std::string_view(name) == "PIRACEMA_COLL_ENGINE" && !engine_.empty() ? engine_.c_str()
                                                                                : nullptr;
  });
  if (!checked) {
    log(Level::error,
        concat("--engine: want auto, tree, mst, two-level, binomial or native, found '", engine_,
               "'"));
    return 2;
  }
  const std::string mpi = mpi_.empty() ? mpi_of(command.front()) : mpi_.substr(0, mpi_.find('-'));
  if (mpi != "openmpi" && mpi != "mpich") {
    log(Level::error, concat("'", command.front(),
                             "' does not say which MPI it is of: want --mpi "
                             "openmpi or --mpi mpich"));
    return mpi_.empty() ? 3 : 2;
  }
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string linked = mpi_of_program(command[i]);
    if (linked.empty() || linked == mpi) continue;
    log(Level::error, concat("'", command[i], "' is linked with ", linked, ", and '",
                             command.front(), "' starts programs of ", mpi));
    return 3;
  }
  const auto library = find_library(command.front(), mpi);
  if (!library) {
    log(Level::error, library.error().message);
    return 3;
  }
  std::vector<std::pair<std::string, std::string>> variables{{"LD_PRELOAD", *library}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) variables.emplace_back(name, value);
  };
  add("PIRACEMA_COLL_ENGINE", engine_);
  add("PIRACEMA_COLL_REPORT", report_);
  add("PIRACEMA_COLL_EMULATE", emulate_);
  add("PIRACEMA_COLL_INTERFACE", interface_);
  add("PIRACEMA_COLL_FIXED_ORDER", fixed_order_ ? "1" : "");
  add("PIRACEMA_COLL_ANY_ORDER", any_order_ ? "1" : "");
  add("PIRACEMA_COLL_SUMMARY", "1");
  // Before anything is started: an address that cannot be had is found out first.
  const auto page = open_page(command, mpi);
  if (!page) return fail(page.error());
  if (*page) {
    log(Level::info, concat("the job is shown at ", (*page)->entrance()));
    add("PIRACEMA_COLL_FIGURES", (*page)->figures());
  }
  const std::string started =
      (std::filesystem::temp_directory_path() / concat("piracema_coll_", ::getpid(), "_started"))
          .string();
  std::filesystem::remove(started);
  add("PIRACEMA_COLL_STARTED", started);
  // By the launcher's own options the ranks of other hosts get them, too, and it does not itself.
  std::vector<std::string> words{command.front()};
  for (const auto& [name, value] : variables) {
    if (mpi == "openmpi") {
      words.insert(words.end(), {"-x", concat(name, "=", value)});
    } else {
      words.insert(words.end(), {"-genv", name, value});
    }
  }
  words.insert(words.end(), command.begin() + 1, command.end());
  const int code = run_launcher(words);
  if (!std::filesystem::remove(started) && code == 0) {
    log(Level::warning, concat("intercepted nothing, as far as this host can see: no rank here has "
                               "called MPI_Init with the library of ",
                               mpi, " (a program that is linked statically, or has another MPI?)"));
  }
  return code;
}

}  // namespace piracema::tools
