#include "council/seats.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "base/crypto.h"
#include "base/parse.h"
#include "base/text.h"
#include "council/remote_output.h"
#include "host/staging.h"
#include "net/session/handshake.h"
#include "net/socket/address.h"
#include "smr/link/keys.h"

namespace piracema::council {

namespace {

constexpr const char* variable = "PIRACEMA_COUNCIL_FD";
constexpr const char* host_variable = "PIRACEMA_COUNCIL_HOST";
// Who has to be brought to its host first is given up by whoever brings it.
constexpr std::chrono::seconds says_within{30}, brought_within{120};

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

Result<Started> start_other(const std::vector<std::string>& words, const std::string& host) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{Errc::io, with_errno("socket to another coordinator")};
  }
  const Fd theirs(ends[1]);
  Fd ours(ends[0]);
  std::vector<std::string> command = words;
  command.front() = "/proc/self/exe";
  std::vector<std::string> environment{concat(variable, "=", theirs.get())};
  if (!host.empty()) environment.push_back(concat(host_variable, "=", host));
  auto process = cluster::Process::start({.command = std::move(command),
                                          .environment = std::move(environment),
                                          .inherited = {theirs.get()},
                                          .outlives_us = true});
  if (!process) return process.error();
  return Started{*std::move(process), std::move(ours)};
}

std::string text_of(const smr::KeyPair::Seed& seed) { return smr::hex_of(Bytes(seed)); }

Result<Done> reserve_ports(Seat& seat) {
  for (Port* port : {&seat.replica, &seat.door}) {
    auto reserved = reserve_port(seat.host);
    if (!reserved) return reserved.error();
    *port = *std::move(reserved);
  }
  return Done{};
}

// What a host is called has to mean the same on all of them.
Result<Done> take_host(const std::string& name, const std::vector<cluster::HostOptions>& hosts,
                       Seat& seat) {
  const auto own =
      std::find_if(hosts.begin(), hosts.end(), [&](const auto& host) { return host.name == name; });
  if (own == hosts.end()) return Error{Errc::config, "it knows of other hosts than the command"};
  if (!own->here) {
    return Error{Errc::config, concat("want a name that means it there, too, found one that means ",
                                      own->address, " there, which is another machine")};
  }
  auto address = own_address_in(hosts);
  if (!address) return address.error();
  seat.host = *std::move(address);
  return reserve_ports(seat);
}

// Nothing more comes from there.
void leave_remote_shell() {
  if (const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC)); nothing) {
    ::dup2(nothing.get(), STDIN_FILENO);
  }
  do_not_wait_for(STDOUT_FILENO);
  do_not_wait_for(STDERR_FILENO);
}

}  // namespace

bool say(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Bound and not listening. Whoever listens there later has the same option (net::Listener).
Result<Port> reserve_port(const std::string& host) {
  const auto wanted = net::Address::make(host, 0);
  if (!wanted) return wanted.error();
  Port port{Fd(::socket(wanted->family(), SOCK_STREAM | SOCK_CLOEXEC, 0)), "", 0};
  const int on = 1;
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (!port.socket ||
      ::setsockopt(port.socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(port.socket.get(), wanted->data(), wanted->size()) != 0 ||
      ::getsockname(port.socket.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0) {
    return Error{Errc::io, with_errno(concat("a port of ", host, " for a coordinator"))};
  }
  const net::Address bound(name);
  port.address = bound.text();
  port.number = bound.port();
  return port;
}

Result<Seat> share_out_seats(std::uint32_t count, const std::vector<std::string>& words,
                             const HostChoice& hosts, std::vector<Started>& others) {
  prepare_crypto();
  Seat seat{.token = net::draw_token(), .host = hosts.here};
  if (auto reserved = reserve_ports(seat); !reserved) return reserved.error();
  std::vector<std::string> seeds;
  const auto add = [&](std::string replica, std::string door) {
    const auto key = smr::KeyPair::generate();
    seeds.push_back(text_of(key.seed()));
    seat.members.push_back(
        {std::move(replica), std::move(door), smr::hex_of(Bytes(key.public_key()))});
  };
  add(seat.replica.address, seat.door.address);
  seat.seed = seeds.front();
  const bool here = hosts.elsewhere.empty();
  for (std::uint32_t other = 1; other < count; ++other) {
    auto started = start_other(words, here ? "" : hosts.elsewhere[other - 1].name);
    if (!started) return started.error();
    others.push_back(*std::move(started));
  }
  for (std::uint32_t other = 1; other < count; ++other) {
    const auto said =
        read_line(others[other - 1].line.get(), here ? says_within : brought_within).value_or("");
    if (said.starts_with(cannot)) {
      const cluster::HostOptions& host = hosts.elsewhere[other - 1];
      return Error{Errc::config, concat(host.named_at, ": no coordinator can be on host '",
                                        host.name, "': ", said.substr(cannot.size()))};
    }
    std::istringstream in(said);
    std::string replica, door;
    if (!(in >> replica >> door)) {
      return Error{Errc::config, concat("coordinator ", other + 1, " of ", count,
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

Result<Seat> take_seat(const std::vector<cluster::HostOptions>& hosts) {
  const char* const value = std::getenv(variable);
  const auto number = parse_number<int>(value == nullptr ? "" : value);
  // What is started from here on is no coordinator.
  ::unsetenv(variable);
  if (!number) return Error{Errc::config, concat(variable, ": want a descriptor's number")};
  Seat seat{.host = "127.0.0.1", .was_brought = *number == STDIN_FILENO};
  const Fd line(seat.was_brought ? ::dup(STDIN_FILENO) : *number);
  const int out = seat.was_brought ? STDOUT_FILENO : line.get();
  const auto within = seat.was_brought ? brought_within : says_within;
  const Error gone{Errc::lost, "the command that has started this coordinator is gone"};
  if (seat.was_brought) {
    // The end of the remote shell is not its own.
    ::setsid();
    if (!say(out, concat(cluster::Staging::started_says, "\n"))) return gone;
    const auto host = read_line(line.get(), within);
    if (!host) return gone;
    if (auto taken = take_host(*host, hosts, seat); !taken) {
      // The command says it.
      say(out, concat(cannot, taken.error().message, "\n"));
      return gone;
    }
  } else if (auto reserved = reserve_ports(seat); !reserved) {
    return reserved.error();
  }
  if (!say(out, concat(seat.replica.address, " ", seat.door.address, "\n"))) return gone;
  const auto first = read_line(line.get(), within);
  std::istringstream in(first.value_or(""));
  std::uint32_t count = 0;
  if (!(in >> seat.me >> seat.seed >> seat.token >> count)) return gone;
  while (seat.members.size() < count) {
    const auto next = read_line(line.get(), within);
    std::istringstream words(next.value_or(""));
    Seat::Member member;
    if (!(words >> member.replica >> member.door >> member.public_key)) return gone;
    seat.members.push_back(std::move(member));
  }
  if (seat.was_brought) leave_remote_shell();
  return seat;
}

std::optional<Errand> take_errand() {
  const char* const host = std::getenv(host_variable);
  const char* const value = std::getenv(variable);
  const auto number = parse_number<int>(value == nullptr ? "" : value);
  if (host == nullptr || !number) return std::nullopt;
  Errand errand{Fd(*number), host};
  ::fcntl(*number, F_SETFD, FD_CLOEXEC);
  ::unsetenv(variable);
  ::unsetenv(host_variable);
  return errand;
}

}  // namespace piracema::council
