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
/// Of one that a coordinator has started: leads to the command.
constexpr const char* command_variable = "PIRACEMA_COUNCIL_COMMAND_FD";
// Who has to be brought to its host first is given up by whoever brings it.
constexpr std::chrono::seconds says_within{30}, brought_within{120};
// Whoever has said where it is waits for the slowest of five, one after the other; that the command
// is gone is seen at once.
constexpr std::chrono::minutes gets_seat_within{10};

/// A line, without its end; nothing when the other side is gone, or says none in time, or
/// `given_up` becomes readable.
std::optional<std::string> read_line(int fd, std::chrono::milliseconds within, int given_up = -1) {
  const auto until = std::chrono::steady_clock::now() + within;
  std::string line;
  while (line.size() < line_bytes_max) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd wanted[] = {{fd, POLLIN, 0}, {given_up, POLLIN, 0}};
    if (left.count() <= 0) return std::nullopt;
    const int ready = ::poll(wanted, 2, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    char byte = 0;
    if (ready <= 0 || wanted[1].revents != 0 || ::read(fd, &byte, 1) != 1) return std::nullopt;
    if (byte == '\n') return line;
    line += byte;
  }
  return std::nullopt;
}

std::string text_of(const smr::KeyPair::Seed& seed) { return smr::hex_of(Bytes(seed)); }

bool read_members(int fd, std::size_t count, std::vector<Member>& members) {
  while (members.size() < count) {
    const auto next = read_line(fd, gets_seat_within);
    std::istringstream words(next.value_or(""));
    Member member;
    if (!(words >> member.id >> member.replica >> member.door >> member.public_key)) return false;
    members.push_back(std::move(member));
  }
  return true;
}

/// The descriptor in that variable, which nobody else inherits from here on.
std::optional<int> take_descriptor(const char* name) {
  const char* const value = std::getenv(name);
  const auto number = parse_number<int>(value == nullptr ? "" : value);
  ::unsetenv(name);
  if (number && *number != STDIN_FILENO) ::fcntl(*number, F_SETFD, FD_CLOEXEC);
  return number;
}

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

Result<Started> start_coordinator(const std::vector<std::string>& words, const Errand& errand) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{Errc::io, with_errno("socket to a coordinator")};
  }
  const Fd theirs(ends[1]);
  Fd ours(ends[0]);
  cluster::Launch launch{.command = words,
                         .environment = {concat(variable, "=", theirs.get())},
                         .inherited = {theirs.get()},
                         .input = errand.input,
                         .outlives_us = true};
  launch.command.front() = "/proc/self/exe";
  if (!errand.first_on.empty()) {
    launch.environment.push_back(concat(first_variable, "=", errand.first_on));
  }
  if (!errand.host.empty()) {
    launch.environment.push_back(concat(host_variable, "=", errand.host));
  }
  if (errand.command >= 0) {
    launch.environment.push_back(concat(command_variable, "=", errand.command));
    launch.inherited.push_back(errand.command);
  }
  auto process = cluster::Process::start(launch);
  if (!process) return process.error();
  return Started{*std::move(process), std::move(ours)};
}

Result<Member> hear_of(const Started& started, bool is_elsewhere, int given_up) {
  const auto within = is_elsewhere ? brought_within : says_within;
  const auto said = read_line(started.line.get(), within, given_up).value_or("");
  if (said.starts_with(cannot)) return Error{Errc::refused, said.substr(cannot.size())};
  Member member;
  std::istringstream in(said);
  if (!(in >> member.replica >> member.door)) {
    return Error{Errc::lost, "it was started and does not say where it is"};
  }
  return member;
}

bool give_seat(const Started& started, const Seat& seat) {
  std::string text = concat(seat.number, " ", seat.seed, " ", seat.administrator, " ", seat.token,
                            " ", seat.first.size(), " ", seat.members.size(), "\n");
  for (const auto* members : {&seat.first, &seat.members}) {
    for (const Member& member : *members) {
      text +=
          concat(member.id, " ", member.replica, " ", member.door, " ", member.public_key, "\n");
    }
  }
  return say(started.line.get(), text);
}

Result<SharedOut> share_out_seats(std::uint32_t count, const std::vector<std::string>& words,
                                  const HostChoice& hosts, std::vector<Started>& coordinators) {
  prepare_crypto();
  const bool here = hosts.elsewhere.empty();
  for (std::uint32_t index = 0; index < count; ++index) {
    Errand errand;
    if (index == 0) {
      // What the job reads is handed on by the first one.
      errand.first_on = hosts.here;
      errand.input = STDIN_FILENO;
    } else if (!here) {
      errand.host = hosts.elsewhere[index - 1].name;
    }
    auto started = start_coordinator(words, errand);
    if (!started) return started.error();
    coordinators.push_back(*std::move(started));
  }
  std::vector<std::string> seeds;
  std::vector<Member> members;
  for (std::uint32_t index = 0; index < count; ++index) {
    auto member = hear_of(coordinators[index], !here && index > 0);
    if (!member && member.error().code == Errc::refused && !here && index > 0) {
      const cluster::HostOptions& host = hosts.elsewhere[index - 1];
      return Error{Errc::config, concat(host.named_at, ": no coordinator can be on host '",
                                        host.name, "': ", member.error().message)};
    }
    if (!member) {
      return Error{index == 0 ? Errc::lost : Errc::config,
                   concat("coordinator ", index + 1, " of ", count, ": ", member.error().message)};
    }
    const auto key = smr::KeyPair::generate();
    seeds.push_back(text_of(key.seed()));
    member->id = index;
    member->public_key = smr::hex_of(Bytes(key.public_key()));
    members.push_back(*std::move(member));
  }
  Seat seat{.administrator = text_of(smr::KeyPair::generate().seed()),
            .token = net::draw_token(),
            .first = members,
            .members = members};
  for (std::uint32_t index = 0; index < count; ++index) {
    seat.number = index;
    seat.seed = seeds[index];
    if (!give_seat(coordinators[index], seat)) {
      return Error{Errc::config, concat("coordinator ", index + 1, " of ", count, " has ended")};
    }
  }
  SharedOut shared_out{.token = seat.token, .doors = {}};
  for (const Member& member : members) shared_out.doors.push_back(member.door);
  return shared_out;
}

bool has_seat() { return std::getenv(variable) != nullptr; }
bool has_first_seat() { return std::getenv(first_variable) != nullptr; }

std::optional<int> code_of(std::string_view line) {
  if (!line.starts_with(job_is_over)) return std::nullopt;
  return parse_number<int>(std::string(line.substr(job_is_over.size())));
}

Result<Seat> take_seat(const std::vector<cluster::HostOptions>& hosts) {
  // What is started from here on is no coordinator.
  const auto number = take_descriptor(variable);
  const auto command = take_descriptor(command_variable);
  if (!number) return Error{Errc::config, concat(variable, ": want a descriptor's number")};
  const char* const address = std::getenv(first_variable);
  Seat seat{.host = address == nullptr ? "127.0.0.1" : address,
            .was_brought = *number == STDIN_FILENO};
  ::unsetenv(first_variable);
  Fd line(seat.was_brought ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : *number);
  const int out = seat.was_brought ? STDOUT_FILENO : line.get();
  const Error gone{Errc::lost, "whoever has started this coordinator is gone"};
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
  std::size_t began_with = 0, count = 0;
  if (!(in >> seat.number >> seat.seed >> seat.administrator >> seat.token >> began_with >>
        count) ||
      !read_members(line.get(), began_with, seat.first) ||
      !read_members(line.get(), count, seat.members) || seat.number >= count) {
    return gone;
  }
  if (seat.was_brought) {
    leave_remote_shell();
    seat.command = Fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    seat.orders = std::move(line);
  } else {
    seat.command = command ? Fd(*command) : std::move(line);
    seat.orders = Fd(::fcntl(seat.command.get(), F_DUPFD_CLOEXEC, 0));
  }
  return seat;
}

std::optional<Bringer> take_bringer() {
  const char* const host = std::getenv(host_variable);
  if (host == nullptr) return std::nullopt;
  Bringer bringer{{}, {}, host};
  ::unsetenv(host_variable);
  const auto number = take_descriptor(variable);
  if (!number) return std::nullopt;
  bringer.line = Fd(*number);
  const auto command = take_descriptor(command_variable);
  bringer.command = Fd(::fcntl(command.value_or(*number), F_DUPFD_CLOEXEC, 0));
  if (command) ::close(*command);
  return bringer;
}

}  // namespace piracema::council
