// Master and worker (mw): tasks of 128 bytes go to a worker and come back with their number
// inverted. Prints the seconds from the first task to the last result.
//
//     master_worker_app WORKERS TASKS
#include <piracema/piracema.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

using namespace piracema;

namespace {

struct Task {
  std::uint64_t number = 0;
  std::array<char, 120> rest{};
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Make {
  std::uint64_t tasks = 0, next = 0;

  std::optional<Task> operator()() {
    return next < tasks ? std::optional(Task{.number = next++}) : std::nullopt;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(next);
  }
};

/// Gives tasks out and takes their results, whose numbers add up to what is known before.
struct Master {
  std::uint64_t out = 0, in = 0, sum = 0, wanted = 0;
  double start = 0;

  void operator()(const Task& task, Emit<Task>& tasks, Emit<double>&) {
    if (out++ == 0) start = seconds();
    wanted += task.number;
    tasks(task);
  }
  void back(const Task& task, Emit<Task>&, Emit<double>&) {
    in += 1;
    sum += ~task.number;
  }
  void finish(Emit<Task>&, Emit<double>& took) const {
    if (in != out || sum != wanted) throw std::runtime_error("a result is missing or wrong");
    took(seconds() - start);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(out, in, sum, wanted, start);
  }
};

Task invert(const Task& task) {
  Task result = task;
  result.number = ~task.number;
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto workers = static_cast<std::uint32_t>(std::atoi(argv[1]));
  const auto tasks = static_cast<std::uint64_t>(std::atoll(argv[2]));
  return run(pipeline(source("tasks", Make{tasks}),
                      master_worker(node("master", Master{}), farm("work", workers, invert)),
                      sink("seconds", [](const double& took) { std::printf("%.6f\n", took); })));
}
