#include "ckpt/capsule/hook_door.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace piracema::ckpt {

namespace {

// Of the capsule's own network namespace, in which no other job is; it has no file.
struct Name {
  Name() {
    constexpr std::string_view text = "piracema ckpt hook";
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, text.data(), text.size());
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t bytes = 0;
};

Fd hook_socket(int more) { return Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | more, 0)); }

}  // namespace

Result<HookDoor> HookDoor::open() {
  Fd listener = hook_socket(SOCK_NONBLOCK);
  const Name name;
  if (!listener || ::bind(listener.get(), name.get(), name.bytes) != 0 ||
      ::listen(listener.get(), 4) != 0) {
    return Error{Errc::io, with_errno("capsule: a socket for the hook")};
  }
  return HookDoor(std::move(listener));
}

void HookDoor::begin() {
  end();
  given_up_ = agreed_ = false;
}

void HookDoor::end() {
  hook_.close();
  waits_at_.reset();
}

void HookDoor::proceed(bool ok, bool ahead) {
  given_up_ = given_up_ || !ok;
  agreed_ = ok && (ahead || waits_at_ == HookStep::recorded);
  if (!waits_at_) return;
  waits_at_.reset();
  answer(ok);
}

std::optional<HookStep> HookDoor::hear() {
  const auto step = receive();
  if (!step) return std::nullopt;
  if (given_up_ || (*step == HookStep::filled && agreed_)) {
    answer(!given_up_);
    return std::nullopt;
  }
  waits_at_ = step;
  return step;
}

std::optional<HookStep> HookDoor::receive() {
  if (!hook_) {
    hook_ = Fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    return std::nullopt;
  }
  char step = 0;
  const ssize_t count = ::recv(hook_.get(), &step, 1, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (count <= 0) {
    hook_.close();
    return std::nullopt;
  }
  return static_cast<HookStep>(step);
}

void HookDoor::answer(bool ok) {
  const char word = ok ? '+' : '-';
  // A hook that has gone is told of by the end of its dump.
  if (hook_) (void)::send(hook_.get(), &word, 1, MSG_NOSIGNAL);
}

Result<Done> HookCall::wait(HookStep step) {
  const Name name;
  if (!socket_) {
    socket_ = hook_socket(0);
    if (::connect(socket_.get(), name.get(), name.bytes) != 0) {
      return Error{Errc::io, with_errno("the capsule's first process")};
    }
  }
  const char question = static_cast<char>(step);
  char word = 0;
  ssize_t count = ::send(socket_.get(), &question, 1, MSG_NOSIGNAL);
  do {
    count = count < 0 ? count : ::recv(socket_.get(), &word, 1, 0);
  } while (count < 0 && errno == EINTR);
  if (count == 1 && word == '+') return Done{};
  return Error{Errc::failed, "given up, as another host could not save its part"};
}

}  // namespace piracema::ckpt
