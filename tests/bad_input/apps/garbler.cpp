// A worker that joins its job as it should and then says what no worker says.
//
//     piracema run -n 2 garbler
#include <piracema/piracema.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdio>

#include "base/fd.h"
#include "cluster/worker_environment.h"
#include "control/messages/control.h"
#include "net/session/handshake.h"
#include "net/socket/address.h"

using namespace piracema;

namespace {

void say(const Fd& socket, const wire::Frame& frame) {
  std::string bytes(wire::frame_header_bytes, '\0');
  wire::write_header(frame, reinterpret_cast<std::byte*>(bytes.data()));
  bytes += as_text(frame.head);
  [[maybe_unused]] const ssize_t sent = ::send(socket.get(), bytes.data(), bytes.size(), 0);
}

wire::Frame hear(const Fd& socket) {
  wire::Frame frame;
  std::byte header[wire::frame_header_bytes];
  if (::recv(socket.get(), header, sizeof header, MSG_WAITALL) != sizeof header) return frame;
  const auto read = wire::read_header(header);
  if (!read) return frame;
  frame.kind = read->kind;
  frame.head.resize(read->head_bytes);
  [[maybe_unused]] const ssize_t count =
      ::recv(socket.get(), frame.head.data(), frame.head.size(), MSG_WAITALL);
  return frame;
}

}  // namespace

int main() {
  const Graph graph = pipeline(source("numbers", Sequence{1, 1'000'000'000}),
                               sink("forget", [](const std::int64_t&) {}));
  const auto environment = cluster::worker_environment();
  if (!environment || !*environment) return 2;
  const cluster::WorkerEnvironment& me = **environment;
  const auto address = net::Address::parse(me.coordinators.front());
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!address || ::connect(socket.get(), address->data(), address->size()) != 0) {
    std::perror("connect");
    return 2;
  }
  net::Handshake handshake(me.token, net::Purpose::control, net::draw_nonce());
  say(socket, handshake.call({}));
  if (!handshake.take_answer(hear(socket))) return 2;
  say(socket, handshake.proof());
  say(socket, runtime::to_frame(runtime::FromWorker(
                  runtime::Hello{.slot = me.slot,
                                 .incarnation = me.incarnation,
                                 .address = "127.0.0.1:1",
                                 .graph = runtime::encode_shape(graph.shape)})));
  say(socket, wire::Frame{.kind = 77});
  pollfd closed{.fd = socket.get(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&closed, 1, 200'000) == 1 ? 0 : 1;
}
