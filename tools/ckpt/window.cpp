#include "tools/ckpt/window.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/host_name.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "ckpt/keeper/control.h"
#include "forecast/dump/outlook.h"
#include "forecast/dump/planner.h"
#include "forecast/store/store_record.h"
#include "forecast/window/lent_calendar.h"
#include "observe/status/json_numbers.h"
#include "tools/arguments.h"
#include "tools/lent_options.h"

namespace piracema::tools {

using namespace ckpt;
using observe::json_seconds;
using observe::json_share;

namespace {

// Open from now on, once.
WindowAt until(Time closes) {
  return [closes](Time at) {
    return at < closes ? std::optional(LentSpan{Time{}, closes}) : std::nullopt;
  };
}

// The earlier one of --for and --until.
Result<Time> find_close(const WindowOptions& options) {
  Time closes = Time::max();
  if (!options.during.empty()) {
    const auto duration = parse_duration(options.during);
    if (!duration) return Error{Errc::usage, "--for: " + duration.error().message};
    closes = now() + *duration;
  }
  if (!options.until.empty()) {
    const auto second = parse_time_of_day(options.until);
    if (!second) return Error{Errc::usage, "--until: " + second.error().message};
    closes = std::min(closes, steady_at(next_time_of_day(wall_at(std::time(nullptr)), *second)));
  }
  return closes;
}

// "--for 2h, --until 06:00".
std::string words_of(const WindowOptions& options) {
  std::string words;
  if (!options.during.empty()) words = "--for " + options.during;
  if (!options.until.empty()) words += concat(words.empty() ? "" : ", ", "--until ", options.until);
  return words;
}

Result<WindowAt> find_window(const WindowOptions& options) {
  if (options.file.empty()) {
    const auto closes = find_close(options);
    if (!closes) return closes.error();
    return until(*closes);
  }
  auto calendar = LentCalendar::read(options.file);
  if (!calendar) return calendar.error();
  if (!calendar->window_at(now())) {
    return Error{Errc::config, concat(options.file, ": want a window for this host (", host_name(),
                                      ") within eight days, found none")};
  }
  return WindowAt([calendar = *std::move(calendar)](Time at) { return calendar.window_at(at); });
}

}  // namespace

Result<Done> apply_window(const WindowOptions& options, RunSettings& settings) {
  const bool once = !options.until.empty() || !options.during.empty();
  if (once == !options.file.empty()) {
    return Error{Errc::usage, "want --until or --for or both, or --windows"};
  }
  const auto risk = parse_risk(options.risk);
  if (!risk) return risk.error();
  auto window = find_window(options);
  if (!window) return window.error();
  settings.window = *std::move(window);
  settings.window_from =
      options.file.empty() ? words_of(options) : "the windows of " + options.file;
  settings.risk = *risk;
  settings.keeper.windows = true;
  settings.keeper.once = options.file.empty();
  return Done{};
}

namespace {

// The keeper's own if it runs, which sees the job and the store; else as the last image was.
Result<Outlook> find_outlook(JobDirectory& directory) {
  const auto told = ask_keeper(directory.socket_path(), "outlook");
  if (told) return decode_outlook(*told);
  Outlook outlook;
  outlook.features.at = static_cast<double>(std::time(nullptr));
  ImageStore images(directory);
  if (const auto all = images.list(); all && !all->empty() && all->back().manifest) {
    if (const auto record = images.record(*all->back().manifest)) {
      outlook.features.bytes = static_cast<double>(record->resident_bytes);
    }
  }
  const auto place = store_place(directory.path());
  if (!place) return place.error();
  const auto past = read_past_dumps(*place);
  if (!past) return past.error();
  const Predictor predictor = learn_from(*past);
  outlook.forecast = predictor.forecast(outlook.features);
  outlook.learnt = predictor.learnt();
  return outlook;
}

void print_json(const Outlook& outlook, const Plan& plan) {
  const DumpFeatures& known = outlook.features;
  const DumpForecast& forecast = outlook.forecast;
  const auto whole = [](double value) { return std::llround(value); };
  nlohmann::ordered_json object{{"bytes", whole(known.bytes)},
                                {"processes", whole(known.processes)},
                                {"swapped_bytes", whole(known.swapped_bytes)},
                                {"dirty_bytes", whole(known.dirty_bytes)},
                                {"writers", whole(known.writers)},
                                {"others_bytes", whole(known.others_bytes)},
                                {"probe", json_seconds(known.probe)},
                                {"busy", json_share(known.busy)},
                                {"learnt", outlook.learnt},
                                {"sampling", outlook.sampling},
                                {"p50", json_seconds(forecast.p50)},
                                {"p95", json_seconds(forecast.p95)},
                                {"p99", json_seconds(forecast.p99)},
                                {"duration", json_seconds(plan.duration)},
                                {"start_in", json_seconds(plan.start_in)},
                                {"used", json_share(plan.used)}};
  for (const auto& factor : forecast.factors) {
    object["factors"][factor.name] = json_seconds(factor.value);  // One of them is a time.
  }
  std::printf("%s\n", object.dump().c_str());
}

}  // namespace

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
  const auto outlook = find_outlook(**directory);
  if (!outlook) return fail(outlook.error());
  const double left = std::chrono::duration<double>(span->closes - now()).count();
  // One that is open is taken as if it had been opened now.
  const double length =
      std::chrono::duration<double>(span->closes - std::max(span->opens, now())).count();
  const Plan plan = plan_dump({.risk = settings.risk}, length, left, outlook->forecast);
  if (json) {
    print_json(*outlook, plan);
    return 0;
  }
  for (const std::string& line :
       explain(plan, outlook->features, outlook->forecast, outlook->learnt)) {
    std::printf("%s\n", line.c_str());
  }
  return 0;
}

}  // namespace piracema::tools
