// What the seal on connections between hosts costs: the same frames by a Connection that is plain,
// in turns with one that is sealed, over loopback, where the network itself costs least.

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "base/ensure.h"
#include "base/text.h"
#include "bench/common/arguments.h"
#include "bench/common/report.h"
#include "bench/common/sockets.h"
#include "loop/poller_thread.h"
#include "net/session/handshake.h"
#include "net/socket/connection.h"

using namespace piracema;
using namespace piracema::bench;
using namespace piracema::net;

namespace {

// Frames with a body, at most 8 MB (and 4096 frames) on their way, as with credits.
void link(std::size_t size, std::size_t count, const std::optional<SealKeys>& keys) {
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
  if (keys) {
    ENSURE(out->seal(*keys).ok());
    ENSURE(in->seal({keys->cipher, keys->in, keys->out}).ok());
  }

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

const char* name_of(Cipher cipher) {
  return cipher == Cipher::aes256_gcm ? "AES-256-GCM" : "ChaCha20-Poly1305";
}

}  // namespace

int main(int argc, char** argv) {
  bench::Settings settings;
  Arguments arguments(
      "Sends frames over loopback by a plain connection, in turns with a sealed one.");
  add_options(arguments, settings);
  if (const auto code = arguments.parse(argc, argv)) return *code;

  Report report("bench_sealed_link", settings);
  for (const Cipher cipher : {Cipher::aes256_gcm, Cipher::chacha20_poly1305}) {
    if ((ciphers_here() >> static_cast<unsigned>(cipher) & 1U) == 0) continue;
    const SealKeys keys{cipher, draw_nonce(), draw_nonce()};
    for (const std::size_t size : {64, 1'024, 65'536, 1'048'576}) {
      const std::size_t count = std::clamp<std::size_t>(1'000'000'000 / size, 100, 500'000);
      report.compare(concat(count, " frames of ", size, " bytes, ", name_of(cipher)),
                     function_side("plain", [=] { link(size, count, std::nullopt); }),
                     function_side("sealed", [=] { link(size, count, keys); }),
                     {.items = count, .unit = "frames", .bytes = size});
    }
  }
  return report.finish();
}
