#include "tools/top/command.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "tools/top/http_client.h"
#include "tools/top/screen.h"

namespace piracema::tools {

namespace {

// Clear, and to the top left corner.
constexpr const char* from_the_top = "\x1b[H\x1b[2J";

bool is_terminal() {
  const char* type = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && type != nullptr && std::string_view(type) != "dumb";
}

ScreenOptions screen_options() {
  if (!is_terminal()) return {};
  winsize size{};
  const char* plain = std::getenv("NO_COLOR");
  ScreenOptions options{.color = plain == nullptr || *plain == '\0'};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 && size.ws_row > 2) {
    options.columns = size.ws_col - 1u;
    options.lines = size.ws_row - 1u;
  }
  return options;
}

// False: nobody reads any more.
bool show(const nlohmann::json& all, bool again) {
  const std::string screen = screen_of(all, screen_options());
  if (is_terminal()) {
    std::fputs(from_the_top, stdout);
  } else if (again) {
    std::fputs("\n", stdout);
  }
  std::fputs(screen.c_str(), stdout);
  return std::fflush(stdout) == 0;
}

bool print(const std::string& answer) {
  // In the order in which it came, on one line.
  std::fputs((nlohmann::ordered_json::parse(answer).dump() + "\n").c_str(), stdout);
  return std::fflush(stdout) == 0;
}

}  // namespace

void TopCommand::add() {
  top_ = app_.add_subcommand("top", "Show on a terminal what --http shows");
  top_->add_option("ADDRESS", address_,
                   "Where it is shown, as --http has said: a port, HOST:PORT,\n"
                   "the whole http://…, or a file (/… or ./…) that has it")
      ->required();
  top_->add_option("--http-token", token_file_, "File with the token, where one is asked for")
      ->type_name("FILE");
  top_->add_option_function<std::string>(
          "--every",
          [this](const std::string& text) {
            const auto every = parse_duration(text);
            if (!every) throw CLI::ValidationError("--every", every.error().message);
            every_ = *every;
          },
          "Time between two looks; default: 1s")
      ->type_name("TIME");
  top_->add_flag("--once", once_, "Look once and end");
  top_->add_flag("--json", json_, "Print all that is known as JSON, one line a look");
  top_->footer(
      "Example:\n  piracema top 41871\n\n"
      "Exit codes:\n  0 looked   2 usage   3 there was no answer\n");
}

int TopCommand::run() const {
  const auto address = find_job(address_, token_file_);
  if (!address) {
    log(Level::error, address.error().message);
    return exit_code_of(address.error());
  }
  std::string noun;
  for (bool answered = false;; answered = true) {
    const auto answer = http_get(*address, "/api/v1/all");
    // It is there, and knows nothing just now: another coordinator takes the job over.
    if (!answer && answered && answer.error().code == Errc::timeout) {
      log(Level::warning, answer.error().message);
      std::this_thread::sleep_for(every_);
      continue;
    }
    if (!answer && answered) {
      log(Level::info,
          concat("no more answers (", answer.error().message, "): the ", noun, " has ended"));
      return 0;
    }
    if (!answer) {
      log(Level::error, answer.error().message);
      return 3;
    }
    const auto all = nlohmann::json::parse(*answer, nullptr, false);
    noun = noun_of(all);
    if (noun.empty()) {
      log(Level::error,
          concat(address->host_port, ": what is there is nothing that piracema top can show"));
      return 3;
    }
    const bool is_read = json_ ? print(*answer) : show(all, answered);
    if (!is_read || once_) return 0;
    std::this_thread::sleep_for(every_);
  }
}

}  // namespace piracema::tools
