// A master and a worker in two processes, beside the same written by hand with plain sockets: as
// many tasks on the way as the window allows, each write as many as there is room for (the workload
// `mw` of paper 004's Fig. 11).
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "bench/common/arguments.h"
#include "bench/common/program.h"
#include "bench/common/report.h"
#include "bench/common/sockets.h"

using namespace piracema;
using namespace piracema::bench;

namespace {

constexpr std::size_t task_bytes = 128;

/// All whole tasks that are there, at least one; nothing at the end.
std::size_t receive(int socket, std::vector<char>& room, std::size_t& filled) {
  while (filled < task_bytes) {
    const ssize_t count = ::recv(socket, room.data() + filled, room.size() - filled, 0);
    if (count <= 0) return 0;
    filled += static_cast<std::size_t>(count);
  }
  return filled / task_bytes;
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

Result<Sample> plain_sockets(std::size_t tasks, std::size_t window) {
  auto [near, far] = tcp_pair();
  return two_processes(
      [&near = near, &far = far] {
        near.close();
        work(far.get());
      },
      [&near = near, &far = far, tasks, window] {
        far.close();
        const bool right = give_out(near.get(), tasks, window);
        near.close();
        return right;
      });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Settings settings;
  std::size_t tasks = 1'000'000, window = 16, workers = 1;
  Arguments arguments("Gives tasks to workers and takes their results, beside plain sockets.");
  add_options(arguments, settings);
  arguments.number("--tasks", tasks, "Tasks a run", {1, 1'000'000'000});
  arguments.number("--window", window, "Tasks on the way", {1, 65'536});
  arguments.number("--workers", workers, "Workers of ours; the plain sockets have one", {1, 64});
  if (const auto code = arguments.parse(argc, argv)) return *code;
  const std::vector<std::string> program{built("bench/master_worker_app"), std::to_string(workers),
                                         std::to_string(tasks), std::to_string(window)};
  const auto in_processes = [&](const char* transport) {
    return under_piracema({"-n", std::to_string(workers + 3), "--transport", transport}, program);
  };

  Report report("bench_master_worker", settings);
  for (const auto& [name, command] : {std::pair{"processes, TCP", in_processes("tcp")},
                                      {"processes, shared memory", in_processes("shm")},
                                      {"threads", program}}) {
    report.compare(concat(tasks, " tasks of ", task_bytes, " bytes"),
                   {.name = "plain sockets", .run = [&] { return plain_sockets(tasks, window); }},
                   {.name = name, .run = [own = command] { return run_timed(own); }},
                   {.items = tasks, .unit = "tasks"});
  }
  return report.finish();
}
