#include "ckpt/keeper/control.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::ckpt {

namespace {

constexpr std::size_t callers_max = 64;
constexpr std::size_t answer_bytes_max = 4096;

/// A socket's name has room for 107 bytes, so the directory is named by a descriptor.
struct ShortName {
  explicit ShortName(const std::string& path)
      : directory(
            ::open(path.substr(0, path.rfind('/')).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    address.sun_family = AF_UNIX;
    const std::string name =
        concat("/proc/self/fd/", directory.get(), path.substr(path.rfind('/')));
    ENSURE(name.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  Fd directory;
  sockaddr_un address{};
};

Fd control_socket(int more) {
  return Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | more, 0));
}

}  // namespace

Result<std::unique_ptr<ControlDoor>> ControlDoor::open(net::Poller& poller, const std::string& path,
                                                       Asked asked) {
  // The job's directory is locked for us: whoever made it is dead.
  ::unlink(path.c_str());
  Fd listener = control_socket(SOCK_NONBLOCK);
  const ShortName name(path);
  if (!listener || ::bind(listener.get(), name.get(), sizeof name.address) != 0 ||
      ::listen(listener.get(), 16) != 0) {
    return Error{Errc::io, with_errno(path)};
  }
  return std::unique_ptr<ControlDoor>(
      new ControlDoor(poller, std::move(listener), path, std::move(asked)));
}

ControlDoor::ControlDoor(net::Poller& poller, Fd listener, std::string path, Asked asked)
    : poller_(poller),
      listener_(std::move(listener)),
      path_(std::move(path)),
      asked_(std::move(asked)) {
  poller_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept(); });
}

ControlDoor::~ControlDoor() {
  poller_.forget(listener_.get());
  for (auto& [caller, socket] : callers_) poller_.forget(socket.get());
  ::unlink(path_.c_str());
}

void ControlDoor::accept() {
  Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket || callers_.size() >= callers_max) return;
  const std::uint64_t caller = ++count_;
  poller_.watch(socket.get(), EPOLLIN, [this, caller](std::uint32_t) { hear(caller); });
  callers_.emplace(caller, std::move(socket));
}

void ControlDoor::hear(std::uint64_t caller) {
  const auto found = callers_.find(caller);
  if (found == callers_.end()) return;
  std::array<char, 64> room;
  const ssize_t bytes = ::recv(found->second.get(), room.data(), room.size(), 0);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (bytes <= 0) return drop(caller);
  asked_(caller, std::string(room.data(), static_cast<std::size_t>(bytes)));
}

void ControlDoor::drop(std::uint64_t caller) {
  const auto found = callers_.find(caller);
  if (found == callers_.end()) return;
  poller_.forget(found->second.get());
  callers_.erase(found);
}

void ControlDoor::answer(std::uint64_t caller, bool ok, const std::string& text) {
  const auto found = callers_.find(caller);
  if (found == callers_.end()) return;
  const std::string packet = ((ok ? "+" : "-") + text).substr(0, answer_bytes_max);
  (void)::send(found->second.get(), packet.data(), packet.size(), MSG_NOSIGNAL);
  drop(caller);
}

void tell_keeper(const std::string& path, const std::string& word) {
  const Fd socket = control_socket(SOCK_NONBLOCK);
  const ShortName name(path);
  if (!socket || ::connect(socket.get(), name.get(), sizeof name.address) != 0) return;
  (void)::send(socket.get(), word.data(), word.size(), MSG_NOSIGNAL);
}

Result<std::string> ask_keeper(const std::string& path, const std::string& word) {
  const Fd socket = control_socket(0);
  const ShortName name(path);
  if (!socket || ::connect(socket.get(), name.get(), sizeof name.address) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED) {
      return Error{Errc::not_found, "the job does not run, or not on this host"};
    }
    return Error{Errc::io, with_errno(path)};
  }
  if (::send(socket.get(), word.data(), word.size(), MSG_NOSIGNAL) < 0) {
    return Error{Errc::lost, "the job's keeper has ended"};
  }
  std::vector<char> room(answer_bytes_max);
  ssize_t bytes = 0;
  do {
    bytes = ::recv(socket.get(), room.data(), room.size(), 0);
  } while (bytes < 0 && errno == EINTR);
  if (bytes <= 0) return Error{Errc::lost, "the job's keeper has ended"};
  std::string text(room.data() + 1, static_cast<std::size_t>(bytes - 1));
  if (room[0] == '+') return text;
  return Error{Errc::failed, text};
}

}  // namespace piracema::ckpt
