// Programs of bricks: numbers go through them and come out once each, in any order.
//
//     bricks_app OUT kind=KIND [items=N] [until=FILE] [pause_us=T] [cut]
//
// KIND: shuffle, branches, combined, cheap, scatter (ten numbers at a time, a slice for each of
// three replicas), chain (what comes out depends on all numbers of its key before it, in order);
// with feedback from workers to their emitter (cycle), from a collector to it
// (collector), from the last stage of a pipeline to the first (wrap) and from the right set of an
// all-to-all to the left one (right_to_left). The source waits `pause_us` before each number and
// ends after `items`, or once FILE exists. In a cycle each number goes round as often as its last
// digit says. With `cut` there are four groups, G1 to G4, whose bounds all that comes round goes
// over, and numbers come out sorted at the end, so that every run writes the same bytes.
#include <piracema/piracema.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cereal/types/map.hpp>
#include <chrono>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "options.h"

using namespace piracema;

using Number = std::int64_t;

struct Numbers {
  std::int64_t items = 0;
  std::string until;
  std::chrono::microseconds pause{0};
  std::int64_t sent = 0;

  std::optional<Number> operator()() {
    if (sent == items) return std::nullopt;
    if (!until.empty() && ::access(until.c_str(), F_OK) == 0) return std::nullopt;
    if (pause.count() != 0) std::this_thread::sleep_for(pause);
    return ++sent;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sent);
  }
};

struct Task {
  Number value = 0, rounds = 0;
};

struct Master {
  void operator()(const Number& n, Emit<Task>& tasks, Emit<Number>&) const { tasks({n, n % 10}); }
  void back(const Task& task, Emit<Task>& tasks, Emit<Number>& done) const {
    if (task.rounds > 0) {
      tasks(task);
    } else {
      done(task.value);
    }
  }
};

Task work(const Task& task) { return {task.value, task.rounds == 0 ? 0 : task.rounds - 1}; }

/// Where a loop of two ends begins and ends.
struct First {
  void operator()(const Number& n, Emit<Task>& on) const { on({n, n % 10}); }
  void back(const Task& task, Emit<Task>& on) const { on(task); }
};
struct Last {
  void operator()(const Task& task, Emit<Number>& done, Emit<Task>& again) const {
    task.rounds > 0 ? again({task.value, task.rounds - 1}) : done(task.value);
  }
};

struct Parity {
  void operator()(const Number& n, Emit<Number>& odd, Emit<Number>& even) const {
    n % 2 == 1 ? odd(n) : even(n);
  }
};

/// Ten numbers at a time, and what is left in the end.
struct Collect {
  std::vector<Number> held;

  void operator()(const Number& n, Emit<std::vector<Number>>& on) {
    held.push_back(n);
    if (held.size() == 10) finish(on);
  }
  void finish(Emit<std::vector<Number>>& on) {
    if (!held.empty()) on(held);
    held.clear();
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(held);
  }
};

void each(const std::vector<Number>& slice, Emit<Number>& on) {
  for (const Number n : slice) on(n);
}

/// A loss, a double or another order shows in all that comes later of that key.
struct Chain {
  std::map<Number, Number> last;

  static Number key(const Number& n) { return n % 37; }

  Number operator()(const Number& n) {
    Number& one = last[key(n)];
    one = (one * 31 + n) % 1'000'003;
    return one;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(last);
  }
};

struct Sorted {
  std::vector<Number> all;

  void operator()(const Number& n, Emit<Number>&) { all.push_back(n); }
  void finish(Emit<Number>& on) {
    std::sort(all.begin(), all.end());
    for (const Number n : all) on(n);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(all);
  }
};

using Cut = std::array<std::vector<std::string>, 4>;
const std::map<std::string, Cut> cuts{
    {"cycle",
     {{{"numbers"}, {"master", "work/0"}, {"work/1", "work/2"}, {"sorted", "text+lines"}}}},
    {"collector",
     {{{"numbers"},
       {"emitter", "pass/0"},
       {"pass/1", "pass/2", "collector"},
       {"sorted", "text+lines"}}}},
    {"wrap", {{{"numbers"}, {"first"}, {"last"}, {"sorted", "text+lines"}}}},
    {"right_to_left",
     {{{"numbers"},
       {"left/0", "right/0"},
       {"left/1", "right/1", "right/2"},
       {"sorted", "text+lines"}}}},
    {"scatter",
     {{{"numbers", "collect"}, {"slices/0"}, {"slices/1", "slices/2"}, {"sorted", "text+lines"}}}},
    {"chain",
     {{{"numbers"}, {"chain/0", "check/0"}, {"chain/1", "chain/2", "check/1"}, {"text+lines"}}}}};

Graph in_groups(Graph program, const std::string& kind) {
  int number = 0;
  for (const std::vector<std::string>& members : cuts.at(kind)) {
    CreatedGroup group = createGroup(program, "G" + std::to_string(++number));
    for (const std::string& member : members) group << member;
  }
  return program;
}

Number same(const Number& n) { return n; }
std::string text(const Number& n) { return std::to_string(n); }

int main(int argc, char** argv) {
  const Options options(argc, argv);
  const auto numbers =
      source("numbers", Numbers{options.number("items", std::numeric_limits<std::int64_t>::max()),
                                options.text("until"),
                                std::chrono::microseconds(options.number("pause_us", 0))});
  const auto end = combine(node("text", text), sink("lines", LineSink(options.out())));
  const std::string kind = options.text("kind");
  const auto run_to_end = [&](const auto&... blocks) {
    if (!options.has("cut")) return run(pipeline(numbers, blocks..., end));
    return run(in_groups(pipeline(numbers, blocks..., node("sorted", Sorted{}), end), kind));
  };
  if (kind == "cycle") {
    return run_to_end(master_worker(node("master", Master{}), farm("work", 3, work)));
  }
  if (kind == "collector") {
    const auto pass = farm("pass", 3, [](const Task& task) { return task; });
    return run_to_end(loop(pipeline(node("emitter", First{}), pass, node("collector", Last{}))));
  }
  if (kind == "wrap") {
    return run_to_end(loop(pipeline(node("first", First{}), node("last", Last{}))));
  }
  if (kind == "right_to_left") {
    return run_to_end(loop(all_to_all(farm("left", 2, First{}), farm("right", 3, Last{}))));
  }
  if (kind == "shuffle") {
    return run_to_end(all_to_all(farm(2, pipeline(node("a", same), node("b", same))),
                                 set(node("c", same), farm("d", 2, same))));
  }
  if (kind == "branches") {
    return run_to_end(node("parity", Parity{}), branches(farm("odd", 2, same), node("even", same)));
  }
  if (kind == "scatter") {
    return run_to_end(node("collect", Collect{}), farm("slices", 3, each).scatter());
  }
  if (kind == "chain") {
    return run(in_groups(pipeline(numbers, farm("chain", 3, Chain{}).by_key(Chain::key),
                                  farm("check", 2, same).ordered(), end),
                         kind));
  }
  if (kind == "cheap") {
    const std::chrono::nanoseconds little{5};
    return run_to_end(node("a", same).cost(little), node("b", same).cost(little));
  }
  return run(combine(numbers, node("same", same), end));
}
