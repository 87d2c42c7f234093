// Somebody who calls the ports of a job and has no business there.
//
//     stranger PORT,PORT… WHAT…
//
// Says each WHAT to each port, all on lines of their own, and stays until the other ends have
// closed or, at the latest, for 200 s. Exit code 1 if one did not close.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "control/messages/control.h"
#include "net/session/handshake.h"
#include "net/socket/address.h"

using namespace piracema;

namespace {

std::string bytes_of(const wire::Frame& frame) {
  std::string bytes(wire::frame_header_bytes, '\0');
  wire::write_header(frame, reinterpret_cast<std::byte*>(bytes.data()));
  return bytes + std::string(as_text(frame.head)) + std::string(as_text(frame.body));
}

std::string call(net::Purpose purpose) {
  net::Handshake handshake(std::string(32, '7'), purpose, net::draw_nonce());
  return bytes_of(handshake.call(net::to_bytes({.slot = 3})));
}

std::string old_call(net::Purpose purpose) {
  net::Handshake handshake(std::string(32, '7'), purpose, net::draw_nonce());
  wire::Frame frame = handshake.call({});
  frame.head.data()[0] = std::byte{1};  // The version comes first.
  return bytes_of(frame);
}

std::string words(const std::string& what) {
  if (what == "http") return "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  if (what == "other job's worker") return call(net::Purpose::control);
  if (what == "old worker") return old_call(net::Purpose::control);
  if (what == "other job's peer") return call(net::Purpose::frames);
  if (what == "old peer") return old_call(net::Purpose::frames);
  if (what == "hello") {
    return bytes_of(runtime::to_frame(runtime::FromWorker(runtime::Hello{})));
  }
  if (what == "heartbeat") {
    return bytes_of(runtime::to_frame(runtime::FromWorker(runtime::Heartbeat{})));
  }
  if (what == "half a frame") return call(net::Purpose::frames).substr(0, 50);
  if (what == "old frame") {
    std::string frame = call(net::Purpose::control);
    frame[2] = 0;  // The version of the header.
    return frame;
  }
  std::string noise;  // "noise"
  for (std::uint32_t i = 0, x = 1; i < 100'000; ++i) {
    x = x * 1664525 + 1013904223;  // Numerical Recipes, section 7.1.
    noise += static_cast<char>(x >> 24);
  }
  return noise;
}

/// Somebody on the line; nothing if nobody is there.
Fd call_port(const std::string& port, const std::string& what) {
  const auto address = net::Address::parse("127.0.0.1:" + port);
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!address || ::connect(socket.get(), address->data(), address->size()) != 0) {
    std::perror("connect");
    return Fd();
  }
  const std::string all = words(what);
  // Whether it is taken is not ours to say: the other end may have closed in the middle.
  [[maybe_unused]] const ssize_t sent = ::send(socket.get(), all.data(), all.size(), MSG_NOSIGNAL);
  return socket;
}

bool is_hung_up_on(const Fd& socket) {
  char some[512];
  pollfd ready{.fd = socket.get(), .events = POLLIN, .revents = 0};
  while (::poll(&ready, 1, 200'000) > 0) {
    if (::recv(socket.get(), some, sizeof some, 0) <= 0) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  struct Call {
    std::string port, what;
    Fd socket;
  };
  std::vector<Call> calls;
  std::istringstream ports(argv[1]);
  for (std::string port; std::getline(ports, port, ',');) {
    for (int i = 2; i < argc; ++i) {
      calls.push_back({port, argv[i], call_port(port, argv[i])});
      if (!calls.back().socket) return 2;
    }
  }
  for (const Call& call : calls) {
    if (is_hung_up_on(call.socket)) continue;
    std::fprintf(stderr, "'%s' on %s was not hung up on\n", call.what.c_str(), call.port.c_str());
    return 1;
  }
}
