#include "ckpt_window.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "arguments.h"
#include "base/log.h"
#include "base/text.h"
#include "ckpt/calendar.h"
#include "ckpt/planner.h"
#include "ckpt/store_state.h"

namespace piracema::tools {

using namespace ckpt;

namespace {

// What the clock on the wall shows at a point of time, and the other way round. It jumps where a
// summer begins or ends, so both are asked for each time.
WallTime wall_at(std::time_t utc) {
  std::tm local{};
  ::localtime_r(&utc, &local);
  return ::timegm(&local);
}
std::time_t utc_at(WallTime wall) {
  std::tm fields{};
  const std::time_t as_utc = wall;
  ::gmtime_r(&as_utc, &fields);
  fields.tm_isdst = -1;
  return ::mktime(&fields);
}

Time steady_at(WallTime wall) {
  return now() + std::chrono::seconds(utc_at(wall) - std::time(nullptr));
}

std::string host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

Result<std::vector<WindowRule>> read_windows(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Error{Errc::config, with_errno(path)};
  return parse_windows(path, text.str());
}

Result<double> parse_risk(const std::string& text) {
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == '\0' && percent >= 1 && percent <= 50) return percent / 100;
  return Error{Errc::usage, concat("--risk: want 1 to 50 percent, found '", text, "'")};
}

using FindWindow = std::function<std::optional<LentSpan>(Time)>;

// Open from now on, once.
FindWindow until(Time closes) {
  return [closes](Time at) {
    return at < closes ? std::optional(LentSpan{Time{}, closes}) : std::nullopt;
  };
}

Result<FindWindow> find_window(const WindowOptions& options) {
  if (!options.during.empty()) {
    const auto duration = parse_duration(options.during);
    if (!duration) return Error{Errc::usage, "--for: " + duration.error().message};
    return until(now() + *duration);
  }
  if (!options.until.empty()) {
    const auto minute = parse_time_of_day(options.until);
    if (!minute) return Error{Errc::usage, "--until: " + minute.error().message};
    return until(steady_at(next_time_of_day(wall_at(std::time(nullptr)), *minute)));
  }
  auto rules = read_windows(options.file);
  if (!rules) return rules.error();
  return FindWindow([rules = *rules, name = host()](Time at) -> std::optional<LentSpan> {
    const auto ahead = std::chrono::ceil<std::chrono::seconds>(at - now()).count();
    const auto window = next_window(rules, wall_at(std::time(nullptr) + ahead), name);
    if (!window) return std::nullopt;
    return LentSpan{steady_at(window->opens), steady_at(window->closes)};
  });
}

}  // namespace

Result<Done> apply_window(const WindowOptions& options, RunSettings& settings) {
  const int given = !options.until.empty() + !options.during.empty() + !options.file.empty();
  if (given != 1) return Error{Errc::usage, "want one of --until, --for and --windows"};
  const auto risk = parse_risk(options.risk);
  if (!risk) return risk.error();
  auto window = find_window(options);
  if (!window) return window.error();
  settings.window = *std::move(window);
  settings.risk = *risk;
  settings.keeper.windows = true;
  settings.keeper.once = options.file.empty();
  return Done{};
}

int show_plan(const std::string& path, const WindowOptions& options, bool json) {
  const auto fail = [](const Error& error) {
    log(Level::error, error.message);
    return error.code == Errc::usage ? 2 : 3;
  };
  RunSettings settings;
  if (auto applied = apply_window(options, settings); !applied) return fail(applied.error());
  const auto directory = JobDirectory::look(path);
  if (!directory) return fail(directory.error());
  const auto span = settings.window(now());
  if (!span) return fail({Errc::config, "no window follows"});

  DumpFeatures features{.dirty_bytes = dirty_bytes()};
  ImageStore images(**directory);
  if (const auto all = images.list(); all && !all->empty() && all->back().manifest) {
    if (const auto record = images.record(*all->back().manifest)) {
      features.bytes = static_cast<double>(record->resident_bytes);
    }
  }
  const Predictor predictor = read_predictor(**directory);
  const DumpForecast forecast = predictor.forecast(features);
  const double left = std::chrono::duration<double>(span->closes - now()).count();
  const Plan plan = plan_dump({.risk = settings.risk}, left, forecast);
  if (!json) {
    for (const std::string& line : explain(plan, features, forecast, predictor.learnt())) {
      std::printf("%s\n", line.c_str());
    }
    return 0;
  }
  nlohmann::ordered_json object{
      {"bytes", features.bytes},     {"dirty_bytes", features.dirty_bytes},
      {"writers", features.writers}, {"learnt", predictor.learnt()},
      {"p50", forecast.p50},         {"p95", forecast.p95},
      {"p99", forecast.p99},         {"duration", plan.duration},
      {"start_in", plan.start_in}};
  for (const auto& factor : forecast.factors) object["factors"][factor.name] = factor.value;
  std::printf("%s\n", object.dump().c_str());
  return 0;
}

}  // namespace piracema::tools
