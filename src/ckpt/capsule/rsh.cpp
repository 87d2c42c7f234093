#include "ckpt/capsule/rsh.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "ckpt/capsule/door.h"
#include "ckpt/capsule/door_messages.h"
#include "host/frame_pipe.h"
#include "wire/fields.h"

namespace piracema::ckpt {

namespace {

constexpr int unreachable = 255;
// A door is opened before anybody calls; the other capsule's links may be held for a while.
constexpr std::chrono::seconds patience{30};

Fd dial(const std::string& host) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) return Fd();
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  auto address = *reinterpret_cast<const sockaddr_in*>(all->ai_addr);
  address.sin_port = htons(door_port);
  for (const Time until = now() + patience; now() < until;) {
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      const int yes = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      return socket;
    }
    // Its process is about to listen: nothing tells when.
    ::poll(nullptr, 0, 20);
  }
  return Fd();
}

void write_all(int to, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(to, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // Nobody reads it any more.
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

/// Passes everything on until the command has ended: its exit code.
int relay(FramePipe& pipe) {
  bool has_input = true;
  for (;;) {
    std::array<pollfd, 2> wait = {
        {{pipe.in(), POLLIN, 0}, {has_input ? STDIN_FILENO : -1, POLLIN, 0}}};
    if (::poll(wait.data(), wait.size(), -1) < 0) continue;
    if (wait[1].revents != 0) {
      std::array<std::byte, door_piece_bytes> room;
      const ssize_t count = ::read(STDIN_FILENO, room.data(), room.size());
      has_input = count > 0;
      const std::size_t bytes = has_input ? static_cast<std::size_t>(count) : 0;
      if (!pipe.send(static_cast<std::uint8_t>(DoorFrame::input), {room.data(), bytes}))
        return unreachable;
    }
    if (wait[0].revents == 0) continue;
    const bool gone = !pipe.fill();
    for (;;) {
      const auto frame = pipe.next();
      if (!frame) return unreachable;
      if (!*frame) break;
      const Buffer& bytes = (*frame)->head;
      const auto kind = static_cast<DoorFrame>((*frame)->kind);
      if (kind == DoorFrame::output) write_all(STDOUT_FILENO, bytes);
      if (kind == DoorFrame::error) write_all(STDERR_FILENO, bytes);
      if (kind == DoorFrame::exit && bytes.size() == 1)
        return std::to_integer<int>(bytes.data()[0]);
    }
    if (gone) return unreachable;
  }
}

// Options of ssh that take a word of their own.
bool takes_a_word(std::string_view option) {
  return option.size() == 2 &&
         std::string_view("bcDEeFIiJLlmOopQRSWw").find(option[1]) != std::string_view::npos;
}

}  // namespace

int run_rsh(const std::vector<std::string>& words) {
  ::signal(SIGPIPE, SIG_IGN);
  std::size_t at = 0;
  while (at < words.size() && words[at].starts_with('-')) at += takes_a_word(words[at]) ? 2 : 1;
  if (at + 1 >= words.size()) {
    log(Level::error, "want a host and a command");
    return 2;
  }
  std::string host = words[at];
  host.erase(0, host.find('@') + 1);
  const Fd socket = dial(host);
  if (!socket) {
    log(Level::error, concat("host '", host, "' cannot be reached: ", with_errno("connect")));
    return unreachable;
  }
  DoorRequest request{.directory = std::filesystem::current_path().string()};
  for (at += 1; at < words.size(); ++at) {
    request.command += (request.command.empty() ? "" : " ") + words[at];
  }
  for (char** one = environ; *one != nullptr; ++one) request.environment.push_back(*one);
  FramePipe pipe(socket.get(), socket.get());
  if (!pipe.send(static_cast<std::uint8_t>(DoorFrame::request), wire::encode(request)))
    return unreachable;
  return relay(pipe);
}

}  // namespace piracema::ckpt
