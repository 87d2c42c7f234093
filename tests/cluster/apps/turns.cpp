// Tells which of two workers got which task by round robin: one is in the process of who sends, the
// other one in a process of its own.
//
//     turns_app OUT how=one_at_a_time|near_waits
//
// Writes "REPLICA TASK" lines; replica 0 is the near one. One at a time, the next task is given
// when the last one is back, until replica 0 has done a hundred. Else replica 0 waits at its first
// task until the other one has done a hundred.
#include <fcntl.h>
#include <piracema/piracema.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <string>

#include "options.h"

using namespace piracema;

namespace {

constexpr int enough = 100;

using Number = std::int64_t;

struct Task {
  Number number = 0;
  std::uint32_t replica = 0;
};

std::string text(const Task& task) {
  return std::to_string(task.replica) + " " + std::to_string(task.number);
}

struct OneAtATime {
  Number near_done = 0;
  void operator()(const Number& n, Emit<Task>& tasks, Emit<Task>&) const { tasks({n}); }
  void back(const Task& task, Emit<Task>& tasks, Emit<Task>& done) {
    done(task);
    if (task.replica == 0) near_done += 1;
    if (near_done < enough) tasks({task.number + 1});
  }
};

struct Work {
  std::uint32_t replica = 0;
  void start(const Context& context) { replica = context.replica; }
  Task operator()(const Task& task) const { return {task.number, replica}; }
};

/// Of the process of the source and of replica 0.
std::atomic<bool> near_is_done{false};

struct Numbers {
  Number sent = 0;
  std::optional<Task> operator()() {
    if (near_is_done) return std::nullopt;
    return Task{++sent};
  }
};

struct WaitingWork {
  std::string pipe;
  std::uint32_t replica = 0;
  int done = 0;

  void start(const Context& context) { replica = context.replica; }
  Task operator()(const Task& task) {
    done += 1;
    if (replica == 0 && done == 1) wait();
    if (replica == 1 && done == enough) tell();
    return {task.number, replica};
  }
  void wait() const {
    char one = 0;
    const int fd = ::open(pipe.c_str(), O_RDONLY | O_CLOEXEC);
    if (::read(fd, &one, 1) != 1) std::abort();
    ::close(fd);
    near_is_done = true;
  }
  void tell() const {
    const int fd = ::open(pipe.c_str(), O_WRONLY | O_CLOEXEC);
    if (::write(fd, "1", 1) != 1) std::abort();
    ::close(fd);
  }
};

Graph one_at_a_time(const std::string& out) {
  Graph program =
      pipeline(source("numbers", Sequence{1, 1}),
               master_worker(node("master", OneAtATime{}), farm("work", 2, Work{}).round_robin()),
               node("text", text), sink("lines", LineSink(out)));
  createGroup(program, "near", {"numbers", "master", "work", "text", "lines"}) << "numbers"
                                                                               << "master"
                                                                               << "work/0"
                                                                               << "text"
                                                                               << "lines";
  return program;
}

Graph near_waits(const std::string& out) {
  const std::string pipe = out + ".pipe";
  ::mkfifo(pipe.c_str(), 0600);  // Whoever comes first.
  Graph program = pipeline(source("numbers", Numbers{}),
                           farm("work", 2, WaitingWork{.pipe = pipe}).round_robin(),
                           node("text", text), sink("lines", LineSink(out)));
  createGroup(program, "near", {"numbers", "work", "text", "lines"}) << "numbers"
                                                                     << "work/0"
                                                                     << "text"
                                                                     << "lines";
  return program;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv);
  const bool one = options.text("how") == "one_at_a_time";
  Graph program = one ? one_at_a_time(options.out()) : near_waits(options.out());
  createGroup(program, "far", {"work"}) << "work/1";
  return run(program);
}
