// What a replicated service that does nothing takes: replicas and clients on this machine, beside
// a probe that only passes the messages.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/log.h"
#include "base/text.h"
#include "bench/common/arguments.h"
#include "bench/common/machine.h"
#include "bench/common/statistics.h"
#include "bench/smr/cluster.h"
#include "bench/smr/crowd.h"
#include "bench/smr/probe.h"

using namespace piracema;
using namespace piracema::bench;

namespace {

Time seconds(double number) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(number));
}

struct Scenario {
  std::string name;
  Load load;
  bool durable = false;
};

/// Each asks for the same, which is no more than so many bytes.
Crowd::Options crowd_of(const Load& load) {
  Buffer operation;
  operation.resize(load.bytes);
  std::fill_n(operation.data(), load.bytes, std::byte{'x'});
  return {.clients = load.clients, .multiplexed = load.multiplexed, .next = [operation] {
            return Crowd::Question{.operation = operation};
          }};
}

Rate run_group(const Scenario& scenario, const std::string& directory) {
  const Load& load = scenario.load;
  SmrCluster cluster({.byzantine = load.byzantine,
                      .durable = scenario.durable,
                      .clients = load.clients,
                      .directory = directory});
  Crowd crowd(cluster.configuration(), crowd_of(load));
  crowd.begin();
  const Rate rate = measure(crowd, cluster, load.warmup_s, load.seconds);
  if (crowd.errors != 0) std::fprintf(stderr, "%zu operations failed\n", crowd.errors);
  return rate;
}

/// The longest time without an answer, in milliseconds, in the seconds after the leader's death.
double run_failover(bool byzantine, const std::string& directory) {
  const Load load{.byzantine = byzantine, .clients = 10};
  SmrCluster cluster({.byzantine = byzantine, .clients = 10, .directory = directory});
  Crowd crowd(cluster.configuration(), crowd_of(load));
  crowd.begin();
  crowd.run_until(now() + seconds(1));
  const auto standing = crowd.first().standing();
  crowd.begin_gaps();
  cluster.kill(standing ? standing->leader : 0);
  crowd.run_until(now() + seconds(2));
  return std::chrono::duration<double, std::milli>(crowd.longest_gap()).count();
}

struct Options {
  int runs = 3;
  double seconds = 3;
  bool json = false, no_probe = false;
  std::string only, directory;
};

std::vector<Scenario> scenarios() {
  std::vector<Scenario> all;
  for (const bool byzantine : {false, true}) {
    const std::string model = byzantine ? "byzantine" : "crash";
    for (const std::size_t bytes : {0u, 1'024u}) {
      for (const bool multiplexed : {false, true}) {
        all.push_back({concat(model, " ", bytes, " B, 100 clients, ",
                              multiplexed ? "multiplexed" : "a socket each"),
                       {byzantine, 100, multiplexed, bytes, 1, 3},
                       false});
      }
    }
    all.push_back({concat(model, " 0 B, one client"), {byzantine, 1, false, 0, 1, 3}, false});
    all.push_back(
        {concat(model, " 0 B, 100 clients, durable"), {byzantine, 100, true, 0, 1, 3}, true});
  }
  return all;
}

std::string shown(const Summary& summary) {
  char text[80];
  std::snprintf(text, sizeof text, "%9.0f [%.0f-%.0f]", summary.median, summary.min, summary.max);
  return text;
}

nlohmann::json numbers(const std::vector<Rate>& rates) {
  auto list = nlohmann::json::array();
  for (const Rate& rate : rates) {
    list.push_back({{"operations_per_second", rate.operations_per_second},
                    {"p50_us", rate.p50_us},
                    {"p99_us", rate.p99_us},
                    {"cpu_us", rate.cpu_us}});
  }
  return list;
}

Summary of(const std::vector<Rate>& rates, double Rate::*field) {
  std::vector<double> values;
  for (const Rate& rate : rates) values.push_back(rate.*field);
  return summarize(values);
}

void print(const std::string& name, const std::vector<Rate>& rates) {
  std::printf("  %-10s %s ops/s   p50 %6.0f us  p99 %6.0f us   %6.1f CPU us/op\n", name.c_str(),
              shown(of(rates, &Rate::operations_per_second)).c_str(),
              of(rates, &Rate::p50_us).median, of(rates, &Rate::p99_us).median,
              of(rates, &Rate::cpu_us).median);
}

nlohmann::json measure(Scenario scenario, const Options& options) {
  scenario.load.seconds = options.seconds;
  std::vector<Rate> group, probe;
  for (int i = 0; i < options.runs; ++i) {
    const auto folder = std::filesystem::path(options.directory) / concat("run-", i);
    std::filesystem::create_directories(folder);
    group.push_back(run_group(scenario, folder.string()));
    std::filesystem::remove_all(folder);
    if (!scenario.durable && !options.no_probe) probe.push_back(run_probe(scenario.load));
  }
  if (!options.json) {
    std::printf("%s\n", scenario.name.c_str());
    print("piracema", group);
    if (!probe.empty()) print("bare probe", probe);
    std::fflush(stdout);
  }
  return {{"scenario", scenario.name}, {"piracema", numbers(group)}, {"probe", numbers(probe)}};
}

nlohmann::json measure_failover(bool byzantine, const Options& options) {
  std::vector<double> times;
  for (int i = 0; i < std::max(options.runs, 5); ++i) {
    const auto folder = std::filesystem::path(options.directory) / concat("failover-", i);
    std::filesystem::create_directories(folder);
    times.push_back(run_failover(byzantine, folder.string()));
    std::filesystem::remove_all(folder);
  }
  const std::string name = byzantine ? "byzantine failover" : "crash failover";
  if (!options.json) {
    std::printf("%s: longest time without an answer %s ms\n", name.c_str(),
                shown(summarize(times)).c_str());
    std::fflush(stdout);
  }
  return {{"scenario", name}, {"milliseconds", times}};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  Arguments arguments(
      "Replicas and clients on this machine, beside a probe that only passes messages.");
  arguments.number("--runs", options.runs, "Of each scenario", {1, 100});
  arguments.number("--seconds", options.seconds, "Of each run", {0.1, 600.0});
  arguments.text("--only", options.only, "Scenarios whose name has this");
  arguments.text("--directory", options.directory, "For what is durable; default: a new one");
  arguments.flag("--no-probe", options.no_probe, "Without the bare probe");
  arguments.flag("--json", options.json, "One JSON object in place of the table");
  if (const auto code = arguments.parse(argc, argv)) return *code;

  std::string made = (std::filesystem::temp_directory_path() / "smr-bench-XXXXXX").string();
  if (options.directory.empty()) {
    if (::mkdtemp(made.data()) == nullptr) return 1;
    options.directory = made;
  }
  nlohmann::json all = nlohmann::json::array();
  if (!options.json) std::printf("%s\n", to_text(this_machine()).c_str());
  for (const Scenario& scenario : scenarios()) {
    if (scenario.name.find(options.only) == std::string::npos) continue;
    all.push_back(measure(scenario, options));
  }
  for (const bool byzantine : {false, true}) {
    const std::string name = byzantine ? "byzantine failover" : "crash failover";
    if (name.find(options.only) == std::string::npos) continue;
    all.push_back(measure_failover(byzantine, options));
  }
  if (options.json) std::puts(all.dump(2).c_str());
  if (options.directory == made) std::filesystem::remove_all(made);
  return 0;
}
