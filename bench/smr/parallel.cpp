// Paper 003, section 4: operations executed one after the other, by the groups of the paper and by
// what they read and write; by replicas that clients ask, or alone, in an order that they have
// already.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/ensure.h"
#include "bench/common/arguments.h"
#include "bench/common/machine.h"
#include "bench/common/statistics.h"
#include "bench/smr/replicated.h"
#include "bench/smr/workload.h"
#include "smr/service/executor/group_executor.h"
#include "smr/service/executor/key_executor.h"
#include "smr/service/executor/sequential_executor.h"

using namespace piracema;
using namespace piracema::bench;
using namespace piracema::smr;

namespace {

struct Options {
  std::string service = "list";
  std::vector<std::int32_t> sizes{100'000};
  std::vector<double> conflicts{0, 5, 10, 15, 20, 25, 50, 75, 100};
  std::vector<unsigned> threads{2};
  std::vector<std::string> executors{"group", "key"};
  /// 0: execution alone.
  std::size_t replicas = 0;
  std::size_t clients = 100;
  /// Of execution alone, requests that are ordered at a time: the paper has 100 clients with one
  /// each.
  std::size_t window = 100;
  int runs = 5;
  /// Of one run.
  double seconds = 0.15;
  /// Of replicas, before it.
  double warmup = 0.2;
  bool checked = false;
  bool json = false;
};

struct Sample {
  double ops_per_s = 0;
  /// On average: of execution alone from when it was ordered to when its reply was there, of
  /// replicas from the question to the answer.
  double latency_ms = 0;
  /// Of replicas: of all their processes and the clients', for one operation.
  double cpu_us = 0;
};

/// A name on the command line, as "group" or "key-always".
struct Way {
  explicit Way(const std::string& name)
      : by_groups(name.starts_with("group")),
        by_keys(name.starts_with("key")),
        prices{.ignored = name.ends_with("-always")} {}
  bool by_groups, by_keys;
  /// Without the rule that leaves threads alone where they do not gain, if it is always.
  Prices prices;
};

std::unique_ptr<Executor> make_executor(const Way& way, StateMachine& machine, unsigned threads,
                                        bool checked) {
  if (way.by_keys) return std::make_unique<KeyExecutor>(machine, threads, way.prices);
  if (way.by_groups) {
    return std::make_unique<GroupExecutor>(machine, Groups(threads), !checked, way.prices);
  }
  return std::make_unique<SequentialExecutor>(machine);
}

// Execution alone: an executor and its machine; measured again and again.
class Subject {
 public:
  Subject(const std::string& name, const Workload& workload, unsigned threads, bool checked)
      : workload_(workload),
        machine_(workload.machine()),
        executor_(make_executor(Way(name), *machine_, threads, checked)) {}

  Sample run(std::size_t count, std::size_t window) {
    const Time start = now();
    std::atomic<std::int64_t> waited{0};
    for (std::size_t done = 0; done < count; done += window) {
      tasks_.resize(std::min(window, count - done));
      for (std::size_t i = 0; i < tasks_.size(); ++i) {
        const std::size_t at = next_++ % workload_.operations.size();
        tasks_[i].operation = workload_.operations[at];
        tasks_[i].group = workload_.groups[at];
        tasks_[i].grouped = true;
      }
      const Time ordered = now();
      executor_->run(tasks_, [&](std::span<Task* const> finished) {
        waited += (now() - ordered).count() * static_cast<std::int64_t>(finished.size());
      });
    }
    const double seconds = std::chrono::duration<double>(now() - start).count();
    const auto all = static_cast<double>(count);
    return {all / seconds, static_cast<double>(waited) / all / 1e6, 0};
  }

 private:
  const Workload& workload_;
  std::unique_ptr<StateMachine> machine_;
  std::unique_ptr<Executor> executor_;
  std::vector<Task> tasks_;
  std::size_t next_ = 0;
};

struct Row {
  std::string service, executor;
  std::int32_t size = 0;
  double conflict_percent = 0;
  unsigned threads = 0;
  /// Both 0 of execution alone.
  std::size_t replicas = 0, clients = 0;
  std::vector<Sample> samples;
  /// By that of the sequential run just before.
  std::vector<double> ratios;
};

template <class Value>
Summary summary_of(const std::vector<Sample>& samples, Value Sample::*value) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.*value);
  return summarize(std::move(values));
}

nlohmann::json to_json(const Summary& summary) {
  return {{"min", summary.min}, {"median", summary.median}, {"max", summary.max}};
}

nlohmann::json to_json(const Row& row) {
  return {{"service", row.service},
          {"executor", row.executor},
          {"size", row.size},
          {"conflict_percent", row.conflict_percent},
          {"threads", row.threads},
          {"ops_per_s", to_json(summary_of(row.samples, &Sample::ops_per_s))},
          {"replicas", row.replicas},
          {"clients", row.clients},
          {"latency_ms", to_json(summary_of(row.samples, &Sample::latency_ms))},
          {"cpu_us", to_json(summary_of(row.samples, &Sample::cpu_us))},
          {"ratio", to_json(summarize(row.ratios))}};
}

void print(const Row& row) {
  const Summary rate = summary_of(row.samples, &Sample::ops_per_s);
  const Summary ratio = summarize(row.ratios);
  std::printf("%-10s %8d %9.0f %% %8u  %-12s %11.0f %6.1f %% %9.3f ms %7.2f [%.2f-%.2f]\n",
              row.service.c_str(), row.size, row.conflict_percent, row.threads,
              row.executor.c_str(), rate.median, 100 * rate.spread(),
              summary_of(row.samples, &Sample::latency_ms).median, ratio.median, ratio.min,
              ratio.max);
}

Workload make_workload(const Options& options, std::int32_t size, double conflicts,
                       unsigned threads) {
  constexpr std::size_t count = 20'000;
  if (options.service == "list") return list_workload(size, conflicts, count);
  const auto groups = options.service == "tuples-ts2"     ? TupleGroups::by_arity
                      : options.service == "tuples-first" ? TupleGroups::by_first_field
                                                          : TupleGroups::all;
  return tuple_workload(static_cast<std::size_t>(size), conflicts, count, groups, threads);
}

/// One way after the other in each run, so that what else the machine does meets all of them.
/// Samples of runs below 0 warm up.
template <class Run>
void measure_in_turns(std::vector<Row>& rows, int first_run, int runs, Run run) {
  for (int i = first_run; i < runs; ++i) {
    double sequential = 0;
    for (std::size_t way = 0; way < rows.size(); ++way) {
      const Sample sample = run(way);
      if (way == 0) sequential = sample.ops_per_s;
      if (i < 0) continue;
      rows[way].samples.push_back(sample);
      rows[way].ratios.push_back(sample.ops_per_s / sequential);
    }
  }
}

void measure_alone(const Options& options, const Workload& workload, std::vector<Row>& rows) {
  std::vector<std::unique_ptr<Subject>> subjects;
  for (const Row& row : rows) {
    subjects.push_back(
        std::make_unique<Subject>(row.executor, workload, row.threads, options.checked));
  }
  // As many operations as take the time that was asked for, in three windows at least: executors
  // learn from one to the next. Every subject does the same ones.
  const Sample first = subjects[0]->run(4 * options.window, options.window);
  std::size_t count = 3 * options.window;
  while (static_cast<double>(count) < options.seconds * first.ops_per_s) count += options.window;
  for (std::size_t i = 1; i < subjects.size(); ++i) {
    subjects[i]->run(4 * options.window, options.window);
  }
  measure_in_turns(rows, -1, options.runs,
                   [&](std::size_t way) { return subjects[way]->run(count, options.window); });
}

void measure_replicated(const Options& options, const Workload& workload, std::vector<Row>& rows) {
  measure_in_turns(rows, 0, options.runs, [&](std::size_t at) {
    const Way way(rows[at].executor);
    std::optional<ConflictGroups> groups;
    if (way.by_groups) groups = {.trust_clients = !options.checked, .added = {}};
    const bool in_parallel = way.by_groups || way.by_keys;
    const Rate rate =
        run_replicated(workload, {.byzantine = rows[at].replicas == 4,
                                  .clients = options.clients,
                                  .execution_threads = in_parallel ? rows[at].threads : 1,
                                  .groups = groups,
                                  .prices = way.prices,
                                  .warmup_s = options.warmup,
                                  .seconds = options.seconds});
    return Sample{rate.operations_per_second, rate.mean_us / 1e3, rate.cpu_us};
  });
}

std::vector<Row> measure(const Options& options, std::int32_t size, double conflicts,
                         unsigned threads) {
  const Workload workload = make_workload(options, size, conflicts, threads);
  std::vector<std::string> names{"sequential"};
  names.insert(names.end(), options.executors.begin(), options.executors.end());
  std::vector<Row> rows;
  for (const std::string& name : names) {
    Row& row = rows.emplace_back();
    row.service = options.service;
    row.executor = name;
    row.size = size;
    row.conflict_percent = conflicts;
    row.threads = threads;
    row.replicas = options.replicas;
    row.clients = options.replicas == 0 ? 0 : options.clients;
  }
  options.replicas == 0 ? measure_alone(options, workload, rows)
                        : measure_replicated(options, workload, rows);
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  Arguments arguments("Executes operations one by one, by groups and by keys (paper 003).");
  arguments.choice("--service", options.service, "what replicas keep",
                   {"list", "tuples-ts1", "tuples-ts2", "tuples-first"});
  arguments.numbers("--size", options.sizes, "elements at the start", {10, 10'000'000});
  arguments.numbers("--conflicts", options.conflicts, "percent", {0.0, 100.0});
  arguments.numbers("--threads", options.threads, "that execute", {1, 64});
  arguments.choices("--executor", options.executors, "-always: threads are used even if they lose",
                    {"group", "key", "group-always", "key-always"});
  arguments.choice("--replicas", options.replicas,
                   "3 that may crash, 4 of which one may lie; 0: execution alone", {0, 3, 4});
  arguments.number("--clients", options.clients, "of replicas", {1, 1'000});
  arguments.number("--warmup", options.warmup, "seconds, of replicas", {0.0, 60.0});
  arguments.number("--window", options.window, "of execution alone", {1, 100'000});
  arguments.number("--runs", options.runs, "of each", {1, 1'000});
  arguments.number("--seconds", options.seconds, "of one run", {0.01, 60.0});
  arguments.flag("--checked", options.checked, "clients are not trusted to name the right group");
  arguments.flag("--json", options.json, "one JSON object in place of the table");
  if (const auto code = arguments.parse(argc, argv)) return *code;

  nlohmann::json rows = nlohmann::json::array();
  if (!options.json) {
    std::printf("%s; ", to_text(this_machine()).c_str());
    options.replicas == 0
        ? std::printf("windows of %zu\n", options.window)
        : std::printf("%zu replicas, %zu clients\n", options.replicas, options.clients);
    std::printf("%-10s %8s %11s %8s  %-12s %11s %8s %12s %s\n", "service", "size", "conflicts",
                "threads", "executor", "ops/s", "spread", "latency", "ratio to sequential");
  }
  for (const std::int32_t size : options.sizes) {
    for (const double conflicts : options.conflicts) {
      for (const unsigned threads : options.threads) {
        for (const Row& row : measure(options, size, conflicts, threads)) {
          if (!options.json) print(row);
          rows.push_back(to_json(row));
        }
      }
    }
  }
  if (options.json) {
    const Machine machine = this_machine();
    const nlohmann::json all = {{"machine", to_text(machine)},
                                {"cores", machine.cores},
                                {"window", options.window},
                                {"rows", rows}};
    std::puts(all.dump(2).c_str());
  }
}
