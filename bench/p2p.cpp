// Items of one size from one process to another over loopback TCP or by shared memory, beside a
// plain socket or a plain ring in memory that somebody wrote by hand: a length before each item,
// many items a write, every item copied out and checked (the workload `p2p` of paper 004's figure
// 9).
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
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

constexpr std::size_t items_a_write = 32;

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
  ENSURE(::setsockopt(near.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
  return {std::move(near), std::move(far)};
}

void send_all(int socket, std::size_t bytes, std::size_t items) {
  const std::size_t one = sizeof bytes + bytes;
  std::vector<char> batch(one * items_a_write);
  for (std::size_t sent = 0; sent < items;) {
    const std::size_t now = std::min(items_a_write, items - sent);
    for (std::size_t i = 0; i < now; ++i, ++sent) {
      char* item = batch.data() + i * one;
      std::memcpy(item, &bytes, sizeof bytes);
      std::memcpy(item + sizeof bytes, &sent, sizeof sent);
    }
    for (std::size_t out = 0; out < now * one;) {
      const ssize_t count = ::send(socket, batch.data() + out, now * one - out, MSG_NOSIGNAL);
      ENSURE(count > 0);
      out += static_cast<std::size_t>(count);
    }
  }
}

/// False if an item is not the next one.
bool receive_all(int socket, std::size_t bytes, std::size_t items) {
  const std::size_t one = sizeof bytes + bytes;
  std::vector<char> room(std::max<std::size_t>(256 << 10, 2 * one));
  std::vector<char> item(bytes);
  std::size_t filled = 0;
  for (std::size_t got = 0; got < items;) {
    const ssize_t count = ::recv(socket, room.data() + filled, room.size() - filled, 0);
    if (count <= 0) return false;
    filled += static_cast<std::size_t>(count);
    std::size_t at = 0;
    for (; filled - at >= one; at += one, ++got) {
      std::memcpy(item.data(), room.data() + at + sizeof bytes, bytes);
      std::size_t sequence = 0;
      std::memcpy(&sequence, item.data(), sizeof sequence);
      if (sequence != got) return false;
    }
    std::memmove(room.data(), room.data() + at, filled - at);
    filled -= at;
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

Result<Sample> plain_socket(std::size_t bytes, std::size_t items) {
  const auto [near, far] = tcp_pair();
  const double cpu_before = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN);
  const Time start = now();
  const pid_t sender = ::fork();
  if (sender < 0) return Error{Errc::io, with_errno("fork")};
  if (sender == 0) {
    send_all(near.get(), bytes, items);
    ::_exit(0);
  }
  const bool right = receive_all(far.get(), bytes, items);
  const Time took = now() - start;
  ::waitpid(sender, nullptr, 0);
  if (!right) return Error{Errc::failed, "an item was not the next one"};
  return Sample{
      .wall_s = std::chrono::duration<double>(took).count(),
      .cpu_s = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN) - cpu_before,
  };
}

/// A ring that two processes share, as plain as can be: they spin, and give way to each other.
struct PlainRing {
  static constexpr std::size_t capacity = std::size_t{1} << 20;
  alignas(128) std::atomic<std::uint64_t> written{0};
  alignas(128) std::atomic<std::uint64_t> read{0};
  alignas(128) char room[capacity];

  void put(const char* from, std::size_t count) {
    std::uint64_t at = written.load(std::memory_order_relaxed);
    while (count > 0) {
      const std::size_t free = capacity - (at - read.load(std::memory_order_acquire));
      const std::size_t piece = std::min({count, free, capacity - at % capacity});
      if (piece == 0) ::sched_yield();
      std::memcpy(room + at % capacity, from, piece);
      from += piece;
      count -= piece;
      written.store(at += piece, std::memory_order_release);
    }
  }
  void take(char* to, std::size_t count) {
    std::uint64_t at = read.load(std::memory_order_relaxed);
    while (count > 0) {
      const std::size_t there = written.load(std::memory_order_acquire) - at;
      const std::size_t piece = std::min({count, there, capacity - at % capacity});
      if (piece == 0) ::sched_yield();
      std::memcpy(to, room + at % capacity, piece);
      to += piece;
      count -= piece;
      read.store(at += piece, std::memory_order_release);
    }
  }
};

Result<Sample> plain_memory(std::size_t bytes, std::size_t items) {
  void* memory =
      ::mmap(nullptr, sizeof(PlainRing), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Error{Errc::io, with_errno("memory to share")};
  auto* ring = new (memory) PlainRing;
  const std::size_t one = sizeof bytes + bytes;
  std::vector<char> batch(one * items_a_write);
  const double cpu_before = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN);
  const Time start = now();
  const pid_t sender = ::fork();
  if (sender < 0) return Error{Errc::io, with_errno("fork")};
  for (std::size_t done = 0; done < items;) {
    const std::size_t count = std::min(items_a_write, items - done);
    if (sender != 0) ring->take(batch.data(), count * one);
    for (std::size_t i = 0; i < count; ++i, ++done) {
      char* item = batch.data() + i * one;
      if (sender == 0) {
        std::memcpy(item, &bytes, sizeof bytes);
        std::memcpy(item + sizeof bytes, &done, sizeof done);
      } else if (std::memcmp(item + sizeof bytes, &done, sizeof done) != 0) {
        return Error{Errc::failed, "an item was not the next one"};
      }
    }
    if (sender == 0) ring->put(batch.data(), count * one);
  }
  if (sender == 0) ::_exit(0);
  const Time took = now() - start;
  ::waitpid(sender, nullptr, 0);
  ::munmap(memory, sizeof(PlainRing));
  return Sample{
      .wall_s = std::chrono::duration<double>(took).count(),
      .cpu_s = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN) - cpu_before,
  };
}

/// As the program says: from its first item to its last one, without its start.
Result<Sample> piracema_run(const std::string& built, const std::string& transport,
                            std::size_t bytes, std::size_t items) {
  std::string output;
  std::string last_words;
  auto sample =
      run_command({built + "/tools/piracema", "run", "--quiet", "--transport", transport, "-n", "2",
                   built + "/bench/p2p_app", std::to_string(bytes), std::to_string(items)},
                  {.output = &output, .last_words = &last_words});
  if (!sample) return sample.error();
  if (sample->exit_code != 0 || output.empty()) return Error{Errc::failed, last_words};
  sample->wall_s = std::stod(output);
  return sample;
}

void print_rates(const Comparison& comparison, std::size_t bytes, std::size_t items) {
  const auto print = [&](const std::string& name, const std::vector<Sample>& samples) {
    std::vector<double> wall, cpu;
    for (const Sample& sample : samples) {
      wall.push_back(sample.wall_s);
      cpu.push_back(sample.cpu_s);
    }
    const double millions = static_cast<double>(items) / 1e6;
    const double seconds = summarize(wall).median;
    std::printf("  %-14s %8.3f M items/s %8.0f MB/s %8.3f CPU s a million items\n", name.c_str(),
                millions / seconds, millions * static_cast<double>(bytes) / seconds,
                summarize(cpu).median / millions);
  };
  print(comparison.name_a, comparison.a);
  print(comparison.name_b, comparison.b);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Settings settings;
  std::vector<std::size_t> sizes{8, 64, 512, 4'096, 65'536, 1'048'576};
  std::size_t megabytes = 2'000;
  std::string transport = "tcp";
  CLI::App app("Sends items from one process to another, beside a plain socket written by hand.");
  add_options(app, settings);
  app.add_option("--sizes", sizes, "Bytes of an item: 8, 64, 512, 4096, 65536, 1048576")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--megabytes", megabytes, "About so much a run; at most 20 million items")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--transport", transport, "tcp, beside a plain socket; shm, beside a plain ring")
      ->check(CLI::IsMember({"tcp", "shm"}))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const std::string built =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();

  std::vector<Comparison> comparisons;
  for (const std::size_t bytes : sizes) {
    const std::size_t items = std::clamp<std::size_t>(megabytes * 1'000'000 / bytes, 1, 20'000'000);
    auto comparison = compare(
        concat(items, " items of ", bytes, " bytes"),
        {.name = transport == "tcp" ? "plain socket" : "plain ring",
         .run =
             [=] {
               return transport == "tcp" ? plain_socket(bytes, items) : plain_memory(bytes, items);
             }},
        {.name = "piracema", .run = [=] { return piracema_run(built, transport, bytes, items); }},
        settings);
    if (!comparison) {
      std::fprintf(stderr, "bench_p2p: %s\n", comparison.error().message.c_str());
      return comparison.error().code == Errc::usage ? 2 : 1;
    }
    if (!settings.json) {
      std::printf("%s", to_text(*comparison).c_str());
      print_rates(*comparison, bytes, items);
      std::printf("\n");
    }
    comparisons.push_back(std::move(*comparison));
  }
  if (settings.json) std::puts(to_json(this_machine(), comparisons).dump(2).c_str());
}
