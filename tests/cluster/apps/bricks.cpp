// Programs of bricks: numbers go through them and come out once each, in any order.
//
//     bricks_app OUT kind=cycle|shuffle|branches|combined|cheap [items=N] [until=FILE] [pause_us=T]
//
// The source waits `pause_us` before each number and ends after `items`, or once FILE exists. In a
// cycle each number goes round as often as its last digit says.
#include <piracema/piracema.h>
#include <unistd.h>

#include <chrono>
#include <limits>
#include <string>
#include <thread>

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

struct Parity {
  void operator()(const Number& n, Emit<Number>& odd, Emit<Number>& even) const {
    n % 2 == 1 ? odd(n) : even(n);
  }
};

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
  if (kind == "cheap") {
    const std::chrono::nanoseconds little{5};
    return run(pipeline(numbers, node("a", same).cost(little), node("b", same).cost(little), end));
  }
  return run(combine(numbers, node("same", same), end));
}
