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
/// What the others call the host of the first coordinator.
constexpr const char* first_variable = "PIRACEMA_COUNCIL_FIRST";
// Who has to be brought to its host first is given up by whoever brings it.
constexpr std::chrono::seconds says_within{30}, brought_within{120};
// Whoever has said where it is waits for the slowest of five, one after the other; that the command
// is gone is seen at once.
constexpr std::chrono::minutes gets_seat_within{10};

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

Result<Started> start(const std::vector<std::string>& words, const std::string& more, int input) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{Errc::io, with_errno("socket to a coordinator")};
  }
  const Fd theirs(ends[1]);
  Fd ours(ends[0]);
  std::vector<std::string> command = words;
  command.front() = "/proc/self/exe";
  std::vector<std::string> environment{concat(variable, "=", theirs.get())};
  if (!more.empty()) environment.push_back(more);
  auto process = cluster::Process::start({.command = std::move(command),
                                          .environment = std::move(environment),
                                          .inherited = {theirs.get()},
                                          .input = input,
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

Result<Done> share_out_seats(std::uint32_t count, const std::vector<std::string>& words,
                             const HostChoice& hosts, std::vector<Started>& coordinators) {
  prepare_crypto();
  const std::string token = net::draw_token();
  std::vector<std::string> seeds;
  std::string members;
  const bool here = hosts.elsewhere.empty();
  for (std::uint32_t index = 0; index < count; ++index) {
    const std::string more = index == 0 ? concat(first_variable, "=", hosts.here)
                             : here     ? ""
                                    : concat(host_variable, "=", hosts.elsewhere[index - 1].name);
    // What the job reads is handed on by the first one.
    auto started = start(words, more, index == 0 ? STDIN_FILENO : -1);
    if (!started) return started.error();
    coordinators.push_back(*std::move(started));
  }
  for (std::uint32_t index = 0; index < count; ++index) {
    const bool brought = !here && index > 0;
    const auto said =
        read_line(coordinators[index].line.get(), brought ? brought_within : says_within)
            .value_or("");
    if (said.starts_with(cannot)) {
      const cluster::HostOptions& host = hosts.elsewhere[index - 1];
      return Error{Errc::config, concat(host.named_at, ": no coordinator can be on host '",
                                        host.name, "': ", said.substr(cannot.size()))};
    }
    std::istringstream in(said);
    std::string replica, door;
    if (!(in >> replica >> door)) {
      return Error{index == 0 ? Errc::lost : Errc::config,
                   concat("coordinator ", index + 1, " of ", count,
                          " was started and does not say where it is")};
    }
    const auto key = smr::KeyPair::generate();
    seeds.push_back(text_of(key.seed()));
    members += concat(replica, " ", door, " ", smr::hex_of(Bytes(key.public_key())), "\n");
  }
  for (std::uint32_t index = 0; index < count; ++index) {
    const std::string text =
        concat(index, " ", seeds[index], " ", token, " ", count, "\n", members);
    if (!say(coordinators[index].line.get(), text)) {
      return Error{Errc::config, concat("coordinator ", index + 1, " of ", count, " has ended")};
    }
  }
  return Done{};
}

bool has_seat() { return std::getenv(variable) != nullptr; }
bool has_first_seat() { return std::getenv(first_variable) != nullptr; }

std::optional<int> code_of(std::string_view line) {
  if (!line.starts_with(job_is_over)) return std::nullopt;
  return parse_number<int>(std::string(line.substr(job_is_over.size())));
}

Result<Seat> take_seat(const std::vector<cluster::HostOptions>& hosts) {
  const char* const value = std::getenv(variable);
  const auto number = parse_number<int>(value == nullptr ? "" : value);
  // What is started from here on is no coordinator.
  ::unsetenv(variable);
  if (!number) return Error{Errc::config, concat(variable, ": want a descriptor's number")};
  const char* const address = std::getenv(first_variable);
  Seat seat{.host = address == nullptr ? "127.0.0.1" : address,
            .was_brought = *number == STDIN_FILENO};
  ::unsetenv(first_variable);
  Fd line(seat.was_brought ? ::dup(STDIN_FILENO) : *number);
  ::fcntl(line.get(), F_SETFD, FD_CLOEXEC);
  const int out = seat.was_brought ? STDOUT_FILENO : line.get();
  const Error gone{Errc::lost, "the command that has started this coordinator is gone"};
  if (seat.was_brought) {
    // The end of the remote shell is not its own.
    ::setsid();
    if (!say(out, concat(cluster::Staging::started_says, "\n"))) return gone;
    const auto host = read_line(line.get(), brought_within);
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
  const auto first = read_line(line.get(), gets_seat_within);
  std::istringstream in(first.value_or(""));
  std::uint32_t count = 0;
  if (!(in >> seat.me >> seat.seed >> seat.token >> count)) return gone;
  while (seat.members.size() < count) {
    const auto next = read_line(line.get(), gets_seat_within);
    std::istringstream words(next.value_or(""));
    Seat::Member member;
    if (!(words >> member.replica >> member.door >> member.public_key)) return gone;
    seat.members.push_back(std::move(member));
  }
  if (seat.was_brought) leave_remote_shell();
  if (!seat.was_brought) seat.command = std::move(line);
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
