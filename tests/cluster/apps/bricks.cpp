// Programs of bricks: numbers go through them and come out once each, in any order.
//
//     bricks_app OUT kind=KIND [items=N] [until=FILE] [pause_us=T]
//
// KIND: shuffle, branches, combined, cheap, scatter (ten numbers at a time, a slice for each of
// three replicas); with feedback from workers to their emitter (cycle), from a collector to it
// (collector), from the last stage of a pipeline to the first (wrap) and from the right set of an
// all-to-all to the left one (right_to_left). The source waits `pause_us` before each number and
// ends after `items`, or once FILE exists. In a cycle each number goes round as often as its last
// digit says.
#include <piracema/piracema.h>
#include <unistd.h>

#include <chrono>
#include <limits>
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
  if (kind == "cycle") {
    return run(
        pipeline(numbers, master_worker(node("master", Master{}), farm("work", 3, work)), end));
  }
  if (kind == "collector") {
    const auto pass = farm("pass", 3, [](const Task& task) { return task; });
    return run(pipeline(
        numbers, loop(pipeline(node("emitter", First{}), pass, node("collector", Last{}))), end));
  }
  if (kind == "wrap") {
    return run(
        pipeline(numbers, loop(pipeline(node("first", First{}), node("last", Last{}))), end));
  }
  if (kind == "right_to_left") {
    return run(pipeline(numbers,
                        loop(all_to_all(farm("left", 2, First{}), farm("right", 3, Last{}))), end));
  }
  if (kind == "shuffle") {
    return run(pipeline(numbers,
                        all_to_all(farm(2, pipeline(node("a", same), node("b", same))),
                                   set(node("c", same), farm("d", 2, same))),
                        end));
  }
  if (kind == "branches") {
    return run(pipeline(numbers, node("parity", Parity{}),
                        branches(farm("odd", 2, same), node("even", same)), end));
  }
  if (kind == "scatter") {
    return run(
        pipeline(numbers, node("collect", Collect{}), farm("slices", 3, each).scatter(), end));
  }
  if (kind == "cheap") {
    const std::chrono::nanoseconds little{5};
    return run(pipeline(numbers, node("a", same).cost(little), node("b", same).cost(little), end));
  }
  return run(combine(numbers, node("same", same), end));
}
