// Master and worker (mw): tasks of 128 bytes go to a worker and come back with their number
// inverted; so many are on the way as the window allows. Prints the seconds from the first task to
// the last result.
//
//     master_worker_app WORKERS TASKS WINDOW
#include <piracema/piracema.h>

#include <algorithm>
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

/// Gives tasks out, a window of them at first and one for each result, whose numbers add up to what
/// is known before.
struct Master {
  std::uint64_t tasks = 0, window = 0;
  std::uint64_t out = 0, in = 0, sum = 0, wanted = 0;
  double start = 0;

  void operator()(const std::int64_t&, Emit<Task>& way_out, Emit<double>&) {
    start = seconds();
    while (out < std::min(window, tasks)) give(way_out);
  }
  void back(const Task& task, Emit<Task>& way_out, Emit<double>&) {
    in += 1;
    sum += ~task.number;
    if (out < tasks) give(way_out);
  }
  void finish(Emit<Task>&, Emit<double>& took) const {
    if (in != tasks || sum != wanted) throw std::runtime_error("a result is missing or wrong");
    took(seconds() - start);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(out, in, sum, wanted, start);
  }

 private:
  void give(Emit<Task>& way_out) {
    wanted += out;
    way_out(Task{.number = out++});
  }
};

Task invert(const Task& task) {
  Task result = task;
  result.number = ~task.number;
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto workers = static_cast<std::uint32_t>(std::atoi(argv[1]));
  const auto tasks = static_cast<std::uint64_t>(std::atoll(argv[2]));
  const auto window = static_cast<std::uint64_t>(std::atoll(argv[3]));
  return run(
      pipeline(source("begin", Sequence{1, 1}),
               master_worker(node("master", Master{tasks, window}), farm("work", workers, invert)),
               sink("seconds", [](const double& took) { std::printf("%.6f\n", took); })));
}
