#include "council/seats.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "net/session/handshake.h"
#include "smr/link/keys.h"

namespace piracema::council {

namespace {

constexpr const char* variable = "PIRACEMA_COUNCIL_FD";
constexpr std::chrono::seconds says_within{30};
constexpr std::size_t line_bytes_max = 4'096;

/// A line, without its end; nothing when the other side is gone, or says none in time.
std::optional<std::string> read_line(int fd, std::chrono::milliseconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  std::string line;
  while (line.size() < line_bytes_max) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    struct pollfd wanted {
      fd, POLLIN, 0
    };
    if (left.count() <= 0) return std::nullopt;
    const int ready = ::poll(&wanted, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    char byte = 0;
    if (ready <= 0 || ::read(fd, &byte, 1) != 1) return std::nullopt;
    if (byte == '\n') return line;
    line += byte;
  }
  return std::nullopt;
}

bool say(int fd, const std::string& text) {
  return ::send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

Result<Started> start_other(const std::vector<std::string>& words) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{Errc::io, with_errno("socket to another coordinator")};
  }
  const Fd theirs(ends[1]);
  Fd ours(ends[0]);
  std::vector<std::string> command = words;
  command.front() = "/proc/self/exe";
  auto process = cluster::Process::start({.command = std::move(command),
                                          .environment = {concat(variable, "=", theirs.get())},
                                          .inherited = {theirs.get()},
                                          .outlives_us = true});
  if (!process) return process.error();
  return Started{*std::move(process), std::move(ours)};
}

std::string text_of(const smr::KeyPair::Seed& seed) { return smr::hex_of(Bytes(seed)); }

}  // namespace

std::string Port::address() const { return concat("127.0.0.1:", number); }

// Bound and not listening. Whoever listens there later has the same option (net::Listener).
Result<Port> reserve_port() {
  Port port{Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), 0};
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  if (!port.socket ||
      ::setsockopt(port.socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(port.socket.get(), name, size) != 0 ||
      ::getsockname(port.socket.get(), name, &size) != 0) {
    return Error{Errc::io, with_errno("a port for a coordinator")};
  }
  port.number = ntohs(address.sin_port);
  return port;
}

Result<Seat> share_out_seats(std::uint32_t count, const std::vector<std::string>& words,
                             std::vector<Started>& others) {
  smr::prepare_crypto();
  Seat seat{.token = net::draw_token()};
  for (Port* port : {&seat.replica, &seat.door}) {
    auto reserved = reserve_port();
    if (!reserved) return reserved.error();
    *port = *std::move(reserved);
  }
  std::vector<std::string> seeds;
  const auto add = [&](std::string replica, std::string door) {
    const auto key = smr::KeyPair::generate();
    seeds.push_back(text_of(key.seed()));
    seat.members.push_back(
        {std::move(replica), std::move(door), smr::hex_of(Bytes(key.public_key()))});
  };
  add(seat.replica.address(), seat.door.address());
  seat.seed = seeds.front();
  for (std::uint32_t other = 1; other < count; ++other) {
    auto started = start_other(words);
    if (!started) return started.error();
    others.push_back(*std::move(started));
  }
  for (const Started& other : others) {
    const auto said = read_line(other.line.get(), says_within);
    std::istringstream in(said.value_or(""));
    std::string replica, door;
    if (!(in >> replica >> door)) {
      return Error{Errc::config, concat("coordinator ", seat.members.size() + 1, " of ", count,
                                        " was started and does not say where it is")};
    }
    add(std::move(replica), std::move(door));
  }
  for (std::uint32_t other = 1; other < count; ++other) {
    std::string text = concat(other, " ", seeds[other], " ", seat.token, " ", count, "\n");
    for (const Seat::Member& member : seat.members) {
      text += concat(member.replica, " ", member.door, " ", member.public_key, "\n");
    }
    if (!say(others[other - 1].line.get(), text)) {
      return Error{Errc::config, concat("coordinator ", other + 1, " of ", count, " has ended")};
    }
  }
  return seat;
}

bool has_seat() { return std::getenv(variable) != nullptr; }

Result<Seat> take_seat() {
  const char* const value = std::getenv(variable);
  const auto number = parse_number<int>(value == nullptr ? "" : value);
  // What is started from here on is no coordinator.
  ::unsetenv(variable);
  if (!number) return Error{Errc::config, concat(variable, ": want a descriptor's number")};
  const Fd line(*number);
  Seat seat;
  for (Port* port : {&seat.replica, &seat.door}) {
    auto reserved = reserve_port();
    if (!reserved) return reserved.error();
    *port = *std::move(reserved);
  }
  const Error gone{Errc::lost, "the command that has started this coordinator is gone"};
  if (!say(line.get(), concat(seat.replica.address(), " ", seat.door.address(), "\n"))) return gone;
  const auto first = read_line(line.get(), says_within);
  std::istringstream in(first.value_or(""));
  std::uint32_t count = 0;
  if (!(in >> seat.me >> seat.seed >> seat.token >> count)) return gone;
  while (seat.members.size() < count) {
    const auto next = read_line(line.get(), says_within);
    std::istringstream words(next.value_or(""));
    Seat::Member member;
    if (!(words >> member.replica >> member.door >> member.public_key)) return gone;
    seat.members.push_back(std::move(member));
  }
  return seat;
}

}  // namespace piracema::council
