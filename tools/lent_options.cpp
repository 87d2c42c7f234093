#include "tools/lent_options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "base/parse.h"
#include "base/text.h"

namespace piracema::tools {

void LentOptions::add(CLI::App& command) {
  command.add_option("--windows", windows_, "File of windows: lines of DAYS FROM TO [HOSTS]");
  command.add_option(
      "--idle", idle_,
      "Lent as well when nobody typed and nothing else ran\nfor so long, such as 10m; "
      "a user who comes back gets it back");
  command.add_option("--presence", presence_,
                     "Command that ends with 0 while a user is there,\nin place of input and load");
  command.add_option("--load", load_, "Cores in use by others that mean a user; default: 0.5")
      ->check(CLI::Range(0.01, 1e6));
  command.add_option("--grace", grace_, "A user has his machine back within it; default: 10s");
  command.add_option("--risk", risk_,
                     "Percent of windows that may close before the job is\nsaved; default: 1");
}

void LentOptions::add_suspend(CLI::App& command) {
  can_suspend_ = true;
  command.add_option(
      "--suspend", suspend_,
      "So much of --grace, at most, jobs stand still before they leave,\nand go on if the user "
      "goes in time; 0: they leave at once.\nDefault: half of it");
}

Result<Time> LentOptions::suspend(Time grace) const {
  if (!can_suspend_) return Time{};
  if (suspend_.empty()) return grace / 2;
  if (suspend_ == "0") return Time{};
  const auto suspend = parse_duration(suspend_);
  if (!suspend) return Error{Errc::usage, "--suspend: " + suspend.error().message};
  if (*suspend <= grace) return Time(*suspend);
  return Error{Errc::usage,
               concat("--suspend: want at most the grace, ", grace_, ", found ", suspend_)};
}

Result<ckpt::LentMachine::Settings> LentOptions::settings() const {
  ckpt::LentMachine::Settings settings;
  settings.users = {
      .by_input_and_load = !idle_.empty(), .presence = {.load = load_}, .command = presence_};
  settings.lending.when_idle = !idle_.empty();
  const auto grace = parse_duration(grace_);
  if (!grace) return Error{Errc::usage, "--grace: " + grace.error().message};
  settings.lending.grace = *grace;
  const auto suspend = this->suspend(*grace);
  if (!suspend) return suspend.error();
  settings.lending.suspend = *suspend;
  if (!idle_.empty()) {
    const auto idle = parse_duration(idle_);
    if (!idle) return Error{Errc::usage, "--idle: " + idle.error().message};
    settings.lending.idle = *idle;
  }
  if (!suspend_.empty() && idle_.empty() && presence_.empty()) {
    return Error{Errc::usage, "want --idle, --presence or both with --suspend"};
  }
  if (!presence_.empty() && !is_given()) {
    return Error{Errc::usage, "want --windows, --idle or both with --presence"};
  }
  if (windows_.empty()) return settings;
  auto calendar = ckpt::LentCalendar::read(windows_);
  if (!calendar) return calendar.error();
  settings.calendar = *std::move(calendar);
  return settings;
}

Result<double> LentOptions::risk() const { return parse_risk(risk_); }

Result<double> parse_risk(const std::string& text) {
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == '\0' && percent >= 0.1 && percent <= 50) return percent / 100;
  return Error{Errc::usage, concat("--risk: want 0.1 to 50 percent, found '", text, "'")};
}

}  // namespace piracema::tools
