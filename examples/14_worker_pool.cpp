// Runs the commands of a file, one a line, in a pool of workers. One that fails is tried again,
// three times in all; who comes back to the master may be given to another worker.
//
//     14_worker_pool COMMANDS [WORKERS]
//
// After the loss of a process, commands that have run since the last snapshot run again.

#include <piracema/piracema.h>

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace piracema;

struct Task {
  std::string command;
  int tries = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(command, tries);
  }
};
struct Outcome {
  Task task;
  bool ok = false;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(task, ok);
  }
};

Outcome work(const Task& task) {
  return {{task.command, task.tries + 1}, std::system(task.command.c_str()) == 0};
}

struct Master {
  static constexpr int tries_max = 3;

  void operator()(const std::string& command, Emit<Task>& tasks, Emit<std::string>&) const {
    tasks({command, 0});
  }
  void back(const Outcome& outcome, Emit<Task>& tasks, Emit<std::string>& out) const {
    const Task& task = outcome.task;
    if (outcome.ok) {
      out("done after " + std::to_string(task.tries) + ": " + task.command);
    } else if (task.tries < tries_max) {
      tasks(task);
    } else {
      out("given up after " + std::to_string(task.tries) + ": " + task.command);
    }
  }
};

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s COMMANDS [WORKERS]\n", argv[0]);
    return 2;
  }
  const auto workers = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : 4);
  return run(pipeline(source("commands", FileLines{argv[1]}),
                      master_worker(node("master", Master{}), farm("work", workers, work)),
                      sink("print", [](const std::string& line) { std::puts(line.c_str()); })));
}
