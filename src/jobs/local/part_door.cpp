#include "jobs/local/part_door.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/text.h"
#include "jobs/protocol/operations.h"
#include "net/socket/descriptors.h"
#include "wire/fields.h"

namespace piracema::jobs {

namespace {

// One message each way.
constexpr std::size_t message_bytes_max = 4 * part_bytes_max;
constexpr std::size_t callers_max = 10'000;

/// A path of any length: an address has room for 107 bytes.
struct Place {
  explicit Place(const std::string& path)
      : folder(::open(std::filesystem::path(path).parent_path().c_str(),
                      O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    address.sun_family = AF_UNIX;
    const std::string shorter = concat("/proc/self/fd/", folder.get(), "/",
                                       std::filesystem::path(path).filename().string());
    right = folder && shorter.size() < sizeof address.sun_path;
    if (right) std::memcpy(address.sun_path, shorter.data(), shorter.size());
  }
  const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&address); }

  Fd folder;
  sockaddr_un address{};
  bool right = false;
};

Fd local_socket(int flags) {
  return Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
}

ssize_t receive(const Fd& socket, std::vector<std::byte>& bytes) {
  bytes.resize(message_bytes_max);
  ssize_t count = 0;
  do {
    count = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_TRUNC);
  } while (count < 0 && errno == EINTR);
  if (count > 0) bytes.resize(std::min(bytes.size(), static_cast<std::size_t>(count)));
  return count;
}

/// Other nodes of a job have numbers for its parts, too.
std::uint32_t draw_number() {
  std::uint32_t drawn = 0;
  while (drawn == 0 || drawn >= first_beside) {
    if (::getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) drawn = 0;
  }
  return drawn;
}

bool send(const Fd& socket, const Buffer& bytes) {
  return ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

}  // namespace

Result<std::unique_ptr<PartDoor>> PartDoor::open(net::Poller& poller, const std::string& path,
                                                 bool for_others, Events events) {
  const Place place(path);
  Fd listener = local_socket(SOCK_NONBLOCK);
  ::unlink(path.c_str());
  if (!place.right || !listener ||
      ::bind(listener.get(), place.data(), sizeof place.address) != 0 ||
      ::chmod(path.c_str(), for_others ? 0666 : 0600) != 0 ||
      ::listen(listener.get(), SOMAXCONN) != 0) {
    return Error{Errc::io, with_errno(path)};
  }
  return std::unique_ptr<PartDoor>(new PartDoor(poller, std::move(listener), std::move(events)));
}

PartDoor::PartDoor(net::Poller& poller, Fd listener, Events events)
    : poller_(poller), listener_(std::move(listener)), events_(std::move(events)) {
  poller_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept(); });
}

PartDoor::~PartDoor() {
  poller_.forget(listener_.get());
  for (auto& [number, caller] : callers_) poller_.forget(caller.socket.get());
}

void PartDoor::accept() {
  Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket || callers_.size() >= callers_max) return;
  const auto user = net::user_of(socket.get());
  if (!user || !events_.knows(*user)) return;
  std::uint32_t number = draw_number();
  while (callers_.contains(number)) number = draw_number();
  const int handle = socket.get();
  callers_[number] = {.socket = std::move(socket), .user = *user};
  poller_.watch(handle, EPOLLIN, [this, number](std::uint32_t) { hear(number); });
}

void PartDoor::hear(std::uint32_t number) {
  Caller& caller = callers_.at(number);
  std::vector<std::byte> bytes;
  const ssize_t count = receive(caller.socket, bytes);
  if (count < 0 && errno == EAGAIN) return;
  // One request is all that is said here.
  if (count <= 0 || caller.has_asked) return drop(number);
  auto request = wire::decode<PartRequest>(bytes);
  if (!request) return drop(number);
  caller.has_asked = true;
  events_.asked(number, caller.user, *std::move(request));
}

void PartDoor::drop(std::uint32_t number) {
  auto caller = callers_.extract(number);
  poller_.forget(caller.mapped().socket.get());
  if (caller.mapped().has_asked) events_.dropped(number);
}

void PartDoor::answer(std::uint32_t number, const Ended& ended) {
  auto caller = callers_.extract(number);
  if (caller.empty()) return;
  poller_.forget(caller.mapped().socket.get());
  // Nothing else was sent to it: there is room.
  (void)send(caller.mapped().socket, wire::encode(ended));
}

Result<Fd> ask_for_part(const std::string& path, const PartRequest& request) {
  const Place place(path);
  Fd socket = local_socket(0);
  if (!place.right || !socket || ::connect(socket.get(), place.data(), sizeof place.address) != 0) {
    return Error{Errc::io, with_errno(concat("the node at ", path))};
  }
  const Buffer bytes = wire::encode(request);
  if (bytes.size() > message_bytes_max || !send(socket, bytes)) {
    return Error{Errc::io, with_errno(concat("asking the node at ", path))};
  }
  return socket;
}

Result<Ended> wait_for_part(const Fd& asked) {
  std::vector<std::byte> bytes;
  if (receive(asked, bytes) <= 0) return Error{Errc::lost, "the node of the job is gone"};
  return wire::decode<Ended>(bytes);
}

}  // namespace piracema::jobs
