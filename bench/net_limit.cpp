// How near a Connection comes to a bare socket over loopback: one sender, one receiver.

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "base/ensure.h"
#include "base/text.h"
#include "bench/common/arguments.h"
#include "bench/common/report.h"
#include "bench/common/sockets.h"
#include "loop/poller_thread.h"
#include "net/socket/connection.h"

using namespace piracema;
using namespace piracema::bench;
using namespace piracema::net;

namespace {

// One blocking call a message, on each side.
void bare_socket(std::size_t size, std::size_t count) {
  auto [near, far] = tcp_pair();
  std::thread sender([&, socket = near.get()] {
    const std::vector<char> message(size);
    for (std::size_t i = 0; i < count; ++i) send_all(socket, message.data(), size);
  });
  std::vector<std::byte> message(std::max<std::size_t>(size, 16'384));
  for (std::size_t left = size * count; left > 0;) {
    const ssize_t got = ::recv(far.get(), message.data(), message.size(), 0);
    ENSURE(got > 0);
    left -= static_cast<std::size_t>(got);
  }
  sender.join();
}

// Frames with a body, at most 8 MB (and 4096 frames) on their way, as with credits.
void connection(std::size_t size, std::size_t count) {
  auto [near, far] = tcp_pair();
  for (const Fd* end : {&near, &far}) ENSURE(::fcntl(end->get(), F_SETFL, O_NONBLOCK) == 0);
  Poller sending, receiving;
  std::atomic<std::size_t> received = 0;
  const std::size_t window = std::clamp<std::size_t>(8'000'000 / size, 4, 4'096);
  const auto ignore = [](Error) {};
  // Told in quarters of the window, so that the sender is not woken for one frame each.
  const auto count_one = [&](const wire::Frame&) {
    const std::size_t number = received.fetch_add(1) + 1;
    if (number % (window / 4) == 0 || number == count) received.notify_one();
  };
  const Connection::Events count_frames{.received = count_one, .lost = ignore};
  const auto out = Connection::open(sending, std::move(near), {.received = {}, .lost = ignore});
  const auto in = Connection::open(receiving, std::move(far), count_frames);
  out->trust({.received = {}, .lost = ignore});
  in->trust(count_frames);

  {
    PollerThread a(sending), b(receiving);
    for (std::size_t i = 0; i < count; ++i) {
      for (auto seen = received.load(); i - seen >= window; seen = received) received.wait(seen);
      wire::Frame frame;
      frame.body.resize(size);
      out->send(std::move(frame));
    }
    for (auto seen = received.load(); seen < count; seen = received) received.wait(seen);
  }
  out->close();
  in->close();
}

}  // namespace

int main(int argc, char** argv) {
  bench::Settings settings;
  Arguments arguments("Sends messages over loopback by a bare socket, in turns with a Connection.");
  add_options(arguments, settings);
  if (const auto code = arguments.parse(argc, argv)) return *code;

  Report report("bench_net_limit", settings);
  for (const std::size_t size : {64, 1'024, 16'384, 65'536, 262'144, 1'048'576, 4'194'304}) {
    const std::size_t count = std::clamp<std::size_t>(1'000'000'000 / size, 100, 500'000);
    report.compare(concat(count, " messages of ", size, " bytes"),
                   function_side("socket", [=] { bare_socket(size, count); }),
                   function_side("Connection", [=] { connection(size, count); }),
                   {.items = count, .unit = "messages", .bytes = size});
  }
  return report.finish();
}
