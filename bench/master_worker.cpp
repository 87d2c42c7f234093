// A master and a worker in two processes, beside the same written by hand with plain sockets: as
// many tasks on the way as the window allows, each write as many as there is room for (the workload
// `mw` of paper 004's Fig. 11).
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/fd.h"
#include "base/text.h"
#include "bench/harness.h"

using namespace piracema;
using namespace piracema::bench;

namespace {

constexpr std::size_t task_bytes = 128;

std::pair<Fd, Fd> tcp_pair() {
  const Fd listener(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  auto* where = reinterpret_cast<sockaddr*>(&address);
  ENSURE(::bind(listener.get(), where, length) == 0 && ::listen(listener.get(), 1) == 0);
  ENSURE(::getsockname(listener.get(), where, &length) == 0);
  Fd near(::socket(AF_INET, SOCK_STREAM, 0));
  ENSURE(::connect(near.get(), where, length) == 0);
  Fd far(::accept(listener.get(), nullptr, nullptr));
  const int on = 1;
  for (const Fd* end : {&near, &far}) {
    ENSURE(::setsockopt(end->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
  }
  return {std::move(near), std::move(far)};
}

/// All whole tasks that are there, at least one; nothing at the end.
std::size_t receive(int socket, std::vector<char>& room, std::size_t& filled) {
  while (filled < task_bytes) {
    const ssize_t count = ::recv(socket, room.data() + filled, room.size() - filled, 0);
    if (count <= 0) return 0;
    filled += static_cast<std::size_t>(count);
  }
  return filled / task_bytes;
}

void send_all(int socket, const char* data, std::size_t bytes) {
  for (std::size_t out = 0; out < bytes;) {
    const ssize_t count = ::send(socket, data + out, bytes - out, MSG_NOSIGNAL);
    ENSURE(count > 0);
    out += static_cast<std::size_t>(count);
  }
}

void work(int socket) {
  std::vector<char> room(std::size_t{64} << 10);
  std::size_t filled = 0;
  while (const std::size_t tasks = receive(socket, room, filled)) {
    for (std::size_t i = 0; i < tasks; ++i) {
      std::uint64_t number = 0;
      std::memcpy(&number, room.data() + i * task_bytes, sizeof number);
      number = ~number;
      std::memcpy(room.data() + i * task_bytes, &number, sizeof number);
    }
    send_all(socket, room.data(), tasks * task_bytes);
    filled -= tasks * task_bytes;
    std::memmove(room.data(), room.data() + tasks * task_bytes, filled);
  }
}

/// False if a result is missing or wrong.
bool give_out(int socket, std::size_t tasks, std::size_t window) {
  std::vector<char> out(window * task_bytes), room(std::size_t{64} << 10);
  std::size_t filled = 0, sent = 0, got = 0;
  while (got < tasks) {
    const std::size_t now = std::min(window - (sent - got), tasks - sent);
    for (std::size_t i = 0; i < now; ++i, ++sent) {
      std::memcpy(out.data() + i * task_bytes, &sent, sizeof sent);
    }
    send_all(socket, out.data(), now * task_bytes);
    const std::size_t results = receive(socket, room, filled);
    if (results == 0) return false;
    for (std::size_t i = 0; i < results; ++i, ++got) {
      std::uint64_t number = 0;
      std::memcpy(&number, room.data() + i * task_bytes, sizeof number);
      if (~number != got) return false;
    }
    filled -= results * task_bytes;
    std::memmove(room.data(), room.data() + results * task_bytes, filled);
  }
  return true;
}

double cpu_seconds(int who) {
  rusage used{};
  ::getrusage(who, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

Result<Sample> plain_sockets(std::size_t tasks, std::size_t window) {
  auto [near, far] = tcp_pair();
  const double cpu_before = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN);
  const Time start = now();
  const pid_t worker = ::fork();
  if (worker < 0) return Error{Errc::io, with_errno("fork")};
  if (worker == 0) {
    near.close();
    work(far.get());
    ::_exit(0);
  }
  const bool right = give_out(near.get(), tasks, window);
  const Time took = now() - start;
  near.close();
  far.close();
  ::waitpid(worker, nullptr, 0);
  if (!right) return Error{Errc::failed, "a result is missing or wrong"};
  return Sample{
      .wall_s = std::chrono::duration<double>(took).count(),
      .cpu_s = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN) - cpu_before,
  };
}

/// As the program says: from its first task to its last result, without its start.
Result<Sample> piracema_run(const std::vector<std::string>& command) {
  std::string output, last_words;
  auto sample = run_command(command, {.output = &output, .last_words = &last_words});
  if (!sample) return sample.error();
  if (sample->exit_code != 0 || output.empty()) return Error{Errc::failed, last_words};
  sample->wall_s = std::stod(output);
  return sample;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Settings settings;
  std::size_t tasks = 1'000'000, window = 16, workers = 1;
  CLI::App app("Gives tasks to workers and takes their results, beside plain sockets.");
  add_options(app, settings);
  app.add_option("--tasks", tasks, "Tasks a run")->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--window", window, "Tasks on the way")
      ->check(CLI::Range(1, 65'536))
      ->capture_default_str();
  app.add_option("--workers", workers, "Workers of ours; the plain sockets have one")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const std::string built =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  const std::vector<std::string> program{built + "/bench/master_worker_app",
                                         std::to_string(workers), std::to_string(tasks),
                                         std::to_string(window)};
  const auto in_processes = [&](const char* transport) {
    std::vector<std::string> command{
        built + "/tools/piracema", "run", "--quiet", "-n", "2", "--transport", transport};
    command.insert(command.end(), program.begin(), program.end());
    return command;
  };

  std::vector<Comparison> comparisons;
  for (const auto& [name, command] : {std::pair{"2 processes, TCP", in_processes("tcp")},
                                      {"2 processes, shared memory", in_processes("shm")},
                                      {"threads", program}}) {
    const std::vector<std::string> own = command;
    auto comparison =
        compare(concat(tasks, " tasks of ", task_bytes, " bytes"),
                {.name = "plain sockets", .run = [&] { return plain_sockets(tasks, window); }},
                {.name = name, .run = [own] { return piracema_run(own); }}, settings);
    if (!comparison) {
      std::fprintf(stderr, "bench_master_worker: %s\n", comparison.error().message.c_str());
      return comparison.error().code == Errc::usage ? 2 : 1;
    }
    if (!settings.json) {
      std::printf("%s", to_text(*comparison).c_str());
      for (const auto& [side, samples] :
           {std::pair{comparison->name_a, comparison->a}, {comparison->name_b, comparison->b}}) {
        std::vector<double> wall;
        for (const Sample& sample : samples) wall.push_back(sample.wall_s);
        std::printf("  %-26s %8.1f k tasks/s\n", side.c_str(),
                    static_cast<double>(tasks) / 1e3 / summarize(wall).median);
      }
      std::printf("\n");
    }
    comparisons.push_back(std::move(*comparison));
  }
  if (settings.json) std::puts(to_json(this_machine(), comparisons).dump(2).c_str());
}
