#include "net/socket/tcp_options.h"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <string>

#include "base/fd.h"

using namespace piracema;

namespace {

std::string congestion_control(const Fd& socket) {
  char name[16] = "";
  socklen_t size = sizeof name;
  REQUIRE(::getsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, name, &size) == 0);
  return name;
}

int no_delay(const Fd& socket) {
  int on = 0;
  socklen_t size = sizeof on;
  REQUIRE(::getsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, &size) == 0);
  return on;
}

Fd tcp_socket() { return Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

}  // namespace

TEST_CASE("a connection within the host is not paced, and sends small messages at once") {
  const Fd listener = tcp_socket(), near = tcp_socket();
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  auto* where = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  REQUIRE(::bind(listener.get(), where, size) == 0);
  REQUIRE(::listen(listener.get(), 1) == 0);
  REQUIRE(::getsockname(listener.get(), where, &size) == 0);
  REQUIRE(::connect(near.get(), where, size) == 0);
  const Fd far(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));

  for (const Fd* end : {&near, &far}) {
    net::set_tcp_options(end->get());
    CHECK(no_delay(*end) != 0);
    CHECK(congestion_control(*end) == "reno");
  }
}

TEST_CASE("what does not stay within the host is paced as the system wants it") {
  const Fd unconnected = tcp_socket();
  const std::string before = congestion_control(unconnected);

  net::set_tcp_options(unconnected.get());

  CHECK(no_delay(unconnected) != 0);
  CHECK(congestion_control(unconnected) == before);
}
