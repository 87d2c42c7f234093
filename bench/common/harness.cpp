#include "bench/common/harness.h"

#include <sys/resource.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/text.h"

namespace piracema::bench {

namespace {

constexpr int runs_max = 1'000;
constexpr int warmups_max = 100;
// Below this the start of a process and the clock are most of what is measured.
constexpr double wall_s_min = 1e-3;

double cpu_s_of_this_process() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

Result<Done> check_settings(const Settings& settings) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return Error{Errc::usage, "a build with sanitizers is not fit to be measured"};
#endif
  if (settings.runs < 1 || settings.runs > runs_max) {
    return Error{Errc::usage, concat("runs: want 1 to ", runs_max, ", found ", settings.runs)};
  }
  if (settings.warmups < 0 || settings.warmups > warmups_max) {
    return Error{Errc::usage,
                 concat("warmups: want 0 to ", warmups_max, ", found ", settings.warmups)};
  }
  return Done{};
}

Result<Sample> run_once(const Side& side) {
  const auto named = [&side](const Error& error) {
    return Error{error.code, concat(side.name, ": ", error.message)};
  };
  if (side.prepare) {
    if (auto prepared = side.prepare(); !prepared) return named(prepared.error());
  }
  const auto sample = side.run();
  if (!sample) return named(sample.error());
  if (side.check) {
    if (auto checked = side.check(); !checked) return named(checked.error());
  }
  if (sample->wall_s < wall_s_min) {
    return Error{Errc::usage, concat(side.name, ": a run took ", sample->wall_s * 1e6,
                                     " us: want at least 1 ms, give it more to do")};
  }
  return *sample;
}

template <class Value>
Summary summary_of(const std::vector<Sample>& samples, Value Sample::*value) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.*value);
  return summarize(std::move(values));
}

std::string row(const std::string& name, const std::vector<Sample>& samples) {
  const Summary wall = summary_of(samples, &Sample::wall_s);
  char text[256];
  std::snprintf(text, sizeof text, "  %-24s %9.3f %9.3f %9.3f %7.1f %% %9.2f %9.1f\n", name.c_str(),
                wall.min, wall.median, wall.max, 100 * wall.spread(),
                summary_of(samples, &Sample::cpu_s).median,
                summary_of(samples, &Sample::peak_mb).max);
  return text;
}

nlohmann::json to_json(const Summary& summary) {
  return {{"min", summary.min},
          {"median", summary.median},
          {"max", summary.max},
          {"spread", summary.spread()}};
}

nlohmann::json to_json(const std::string& name, const std::vector<Sample>& samples) {
  nlohmann::json runs = nlohmann::json::array();
  for (const Sample& sample : samples) {
    runs.push_back(
        {{"wall_s", sample.wall_s}, {"cpu_s", sample.cpu_s}, {"peak_mb", sample.peak_mb}});
  }
  return {
      {"name", name}, {"wall_s", to_json(summary_of(samples, &Sample::wall_s))}, {"runs", runs}};
}

}  // namespace

Side command_side(std::string name, std::vector<std::string> command) {
  auto run = [command = std::move(command)]() -> Result<Sample> {
    std::string last_words;
    auto sample = run_command(command, {.last_words = &last_words});
    if (sample && sample->exit_code != 0) {
      return Error{Errc::failed, concat("'", command[0], "' ended with exit code ",
                                        sample->exit_code, "; it said:\n", last_words)};
    }
    return sample;
  };
  return {.name = std::move(name), .run = std::move(run)};
}

Side function_side(std::string name, std::function<void()> function) {
  auto run = [function = std::move(function)]() -> Result<Sample> {
    const double cpu_before = cpu_s_of_this_process();
    const Time start = now();
    function();
    const std::chrono::duration<double> wall = now() - start;
    return Sample{.wall_s = wall.count(), .cpu_s = cpu_s_of_this_process() - cpu_before};
  };
  return {.name = std::move(name), .run = std::move(run)};
}

void add_options(Arguments& arguments, Settings& settings) {
  arguments.number("--runs", settings.runs, "Runs of each side", {1, runs_max});
  arguments.number("--warmups", settings.warmups, "Runs of each side that do not count",
                   {0, warmups_max});
  arguments.flag("--json", settings.json, "Print one JSON object");
}

Summary Comparison::ratio() const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i].wall_s / b[i].wall_s);
  return summarize(std::move(ratios));
}

double Comparison::against_best() const {
  return summary_of(a, &Sample::wall_s).min / summary_of(b, &Sample::wall_s).median;
}

Result<std::vector<Track>> rotate(const std::vector<Side>& sides, const Settings& settings) {
  if (auto checked = check_settings(settings); !checked) return checked.error();
  std::vector<Track> tracks;
  for (const Side& side : sides) tracks.push_back({.name = side.name, .samples = {}});
  for (int round = 0; round < settings.warmups + settings.runs; ++round) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const auto sample = run_once(sides[i]);
      if (!sample) return sample.error();
      if (round >= settings.warmups) tracks[i].samples.push_back(*sample);
    }
  }
  return tracks;
}

Comparison compare(std::string title, const Track& a, const Track& b) {
  return {.title = std::move(title),
          .name_a = a.name,
          .name_b = b.name,
          .a = a.samples,
          .b = b.samples};
}

Result<Comparison> compare(std::string title, const Side& a, const Side& b,
                           const Settings& settings) {
  const auto tracks = rotate({a, b}, settings);
  if (!tracks) return tracks.error();
  return compare(std::move(title), tracks->front(), tracks->back());
}

std::string to_text(const Comparison& comparison) {
  const Summary ratio = comparison.ratio();
  char head[128], verdict[256];
  std::snprintf(head, sizeof head, "  %-24s %9s %9s %9s %9s %9s %9s\n", "seconds", "min", "median",
                "max", "spread", "CPU", "peak MB");
  std::snprintf(verdict, sizeof verdict,
                "  B is %.3f times as fast as A (pairs: %.3f to %.3f), and its median %.3f times "
                "as fast as A's best\n",
                ratio.median, ratio.min, ratio.max, comparison.against_best());
  return concat(comparison.title, "; ", comparison.a.size(), " runs each\n", std::string_view(head),
                row("A " + comparison.name_a, comparison.a),
                row("B " + comparison.name_b, comparison.b), std::string_view(verdict));
}

nlohmann::json to_json(const Machine& machine, const std::vector<Comparison>& comparisons) {
  nlohmann::json all = nlohmann::json::array();
  for (const Comparison& comparison : comparisons) {
    all.push_back({{"title", comparison.title},
                   {"a", to_json(comparison.name_a, comparison.a)},
                   {"b", to_json(comparison.name_b, comparison.b)},
                   {"ratio", to_json(comparison.ratio())},
                   {"against_best", comparison.against_best()}});
  }
  return {{"machine",
           {{"cores", machine.cores},
            {"processor", machine.processor},
            {"kernel", machine.kernel},
            {"memory_gb", machine.memory_gb},
            {"load", machine.load}}},
          {"comparisons", all}};
}

}  // namespace piracema::bench
