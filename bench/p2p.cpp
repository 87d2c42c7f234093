// Items of one size from one process to another over loopback TCP or by shared memory, beside a
// plain socket or a plain ring in memory that somebody wrote by hand: a length before each item,
// many items a write, every item copied out and checked (the workload `p2p` of paper 004's figure
// 9).
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
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

constexpr std::size_t items_a_write = 32;

void send_items(int socket, std::size_t bytes, std::size_t items) {
  const std::size_t one = sizeof bytes + bytes;
  std::vector<char> batch(one * items_a_write);
  for (std::size_t sent = 0; sent < items;) {
    const std::size_t now = std::min(items_a_write, items - sent);
    for (std::size_t i = 0; i < now; ++i, ++sent) {
      char* item = batch.data() + i * one;
      std::memcpy(item, &bytes, sizeof bytes);
      std::memcpy(item + sizeof bytes, &sent, sizeof sent);
    }
    send_all(socket, batch.data(), now * one);
  }
}

/// False if an item is not the next one.
bool receive_items(int socket, std::size_t bytes, std::size_t items) {
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

// Without a name the system's choice, as whoever writes such a thing by hand leaves it.
// `congestion`: "reno", which our own connections within a host have, does not pace with timers as
// "bbr" does.
Result<Sample> plain_socket(std::size_t bytes, std::size_t items, const std::string& congestion) {
  const auto [near, far] = tcp_pair();
  for (const Fd* end : {&near, &far}) {
    if (congestion.empty()) break;
    if (::setsockopt(end->get(), IPPROTO_TCP, TCP_CONGESTION, congestion.data(),
                     static_cast<socklen_t>(congestion.size())) != 0) {
      return Error{Errc::usage, with_errno(concat("--congestion ", congestion))};
    }
  }
  return two_processes(
      [&near = near, bytes, items] { send_items(near.get(), bytes, items); },
      [&far = far, bytes, items] { return receive_items(far.get(), bytes, items); });
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

void put_items(PlainRing& ring, std::size_t bytes, std::size_t items) {
  const std::size_t one = sizeof bytes + bytes;
  std::vector<char> batch(one * items_a_write);
  for (std::size_t done = 0; done < items;) {
    const std::size_t count = std::min(items_a_write, items - done);
    for (std::size_t i = 0; i < count; ++i, ++done) {
      std::memcpy(batch.data() + i * one, &bytes, sizeof bytes);
      std::memcpy(batch.data() + i * one + sizeof bytes, &done, sizeof done);
    }
    ring.put(batch.data(), count * one);
  }
}

/// False if an item is not the next one.
bool take_items(PlainRing& ring, std::size_t bytes, std::size_t items) {
  const std::size_t one = sizeof bytes + bytes;
  std::vector<char> batch(one * items_a_write);
  bool right = true;
  for (std::size_t done = 0; done < items;) {
    const std::size_t count = std::min(items_a_write, items - done);
    ring.take(batch.data(), count * one);
    for (std::size_t i = 0; i < count; ++i, ++done) {
      right &= std::memcmp(batch.data() + i * one + sizeof bytes, &done, sizeof done) == 0;
    }
  }
  return right;
}

Result<Sample> plain_memory(std::size_t bytes, std::size_t items) {
  void* memory =
      ::mmap(nullptr, sizeof(PlainRing), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Error{Errc::io, with_errno("memory to share")};
  auto* ring = new (memory) PlainRing;
  auto sample = two_processes([=] { put_items(*ring, bytes, items); },
                              [=] { return take_items(*ring, bytes, items); });
  ::munmap(memory, sizeof(PlainRing));
  return sample;
}

std::size_t items_of(std::size_t bytes, std::size_t megabytes) {
  return std::clamp<std::size_t>(megabytes * 1'000'000 / bytes, 1, 20'000'000);
}

// One run each, a line of MB/s each.
int print_plain_sockets(const std::vector<std::size_t>& sizes, std::size_t megabytes,
                        const std::string& congestion) {
  for (const std::size_t bytes : sizes) {
    const std::size_t items = items_of(bytes, megabytes);
    const auto sample = plain_socket(bytes, items, congestion);
    if (!sample) {
      std::fprintf(stderr, "bench_p2p: %s\n", sample.error().message.c_str());
      return 1;
    }
    std::printf("%.3f\n", static_cast<double>(items * bytes) / sample->wall_s / 1e6);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Settings settings;
  bool only_plain = false;
  std::vector<std::size_t> sizes{8, 64, 512, 4'096, 65'536, 1'048'576};
  std::size_t megabytes = 2'000;
  std::string transport = "tcp", congestion;
  Arguments arguments(
      "Sends items from one process to another, beside a plain socket written by hand.");
  add_options(arguments, settings);
  arguments.numbers("--sizes", sizes, "Bytes of an item: 8, 64, 512, 4096, 65536, 1048576");
  arguments.number("--megabytes", megabytes, "About so much a run; at most 20 million items",
                   {1, 1'000'000});
  arguments.choice("--transport", transport, "tcp, beside a plain socket; shm, beside a plain ring",
                   {"tcp", "shm"});
  arguments.text("--congestion", congestion, "Of the plain socket (tcp(7)); default: the system's");
  arguments.flag("--only-plain", only_plain,
                 "Print the MB/s of the plain socket alone, one run a size");
  if (const auto code = arguments.parse(argc, argv)) return *code;
  if (only_plain) return print_plain_sockets(sizes, megabytes, congestion);

  Report report("bench_p2p", settings);
  for (const std::size_t bytes : sizes) {
    const std::size_t items = items_of(bytes, megabytes);
    const Side by_socket{.name = "plain socket",
                         .run = [=] { return plain_socket(bytes, items, congestion); }};
    const Side by_memory{.name = "plain ring", .run = [=] { return plain_memory(bytes, items); }};
    const auto ours =
        under_piracema({"--transport", transport, "-n", "2"},
                       {built("bench/p2p_app"), std::to_string(bytes), std::to_string(items)});
    report.compare(concat(items, " items of ", bytes, " bytes"),
                   transport == "tcp" ? by_socket : by_memory,
                   {.name = "piracema", .run = [=] { return run_timed(ours); }},
                   {.items = items, .bytes = bytes});
  }
  return report.finish();
}
