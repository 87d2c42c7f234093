#include "connect/streams/socket_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "base/text.h"

namespace piracema::detail {

namespace {

constexpr std::size_t socket_piece_bytes = std::size_t{64} << 10;
constexpr std::size_t length_bytes = sizeof(std::uint32_t);

std::uint32_t length_at(const char* at) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length = length << 8 | static_cast<unsigned char>(at[i]);
  }
  return length;
}

}  // namespace

SocketServer::SocketServer(const std::string& address, const SocketOptions& options,
                           SocketSource::Framing framing)
    : options_(options), framing_(framing) {
  const bool port_alone = address.find(':') == std::string::npos;
  const auto where = net::Address::parse(port_alone ? "127.0.0.1:" + address : address);
  if (!where || where->is_local()) {
    throw std::runtime_error(concat("socket '", address,
                                    "': want PORT or HOST:PORT, as 4711, 0.0.0.0:4711 or "
                                    "[::1]:4711"));
  }
  auto listener = net::Listener::open(poller_, *where, [this](Fd socket, const net::Address& from) {
    accept(std::move(socket), from);
  });
  if (!listener) throw std::runtime_error(listener.error().message);
  listener_ = *std::move(listener);
}

SocketServer::~SocketServer() {
  for (const auto& [fd, caller] : callers_) poller_.forget(fd);
}

bool SocketServer::take(Taken& into) {
  const std::size_t before = into.size();
  taken_ = &into;
  poller_.run_once(std::chrono::milliseconds(0));
  taken_ = nullptr;
  return into.size() != before;
}

void SocketServer::accept(Fd socket, const net::Address& from) {
  const int fd = socket.get();
  // A machine that is gone without a word gives its place back.
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  callers_.emplace(fd, Caller{std::move(socket), from.text(), {}});
  poller_.watch(fd, EPOLLIN, [this, fd](std::uint32_t) { read(fd); });
  if (callers_.size() >= options_.connections_max) listener_->hold();
}

void SocketServer::read(int fd) {
  Caller& caller = callers_.at(fd);
  char piece[socket_piece_bytes];
  const ssize_t got = ::recv(fd, piece, sizeof piece, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) return leave(fd, with_errno(concat(caller.name, " broke off")));
  if (got == 0) return leave(fd, cut_off(caller));
  caller.bytes.append(piece, static_cast<std::size_t>(got));
  if (const auto wrong = cut(caller)) leave(fd, concat(caller.name, ": ", *wrong));
}

std::optional<std::string> SocketServer::cut(Caller& caller) {
  return framing_ == SocketSource::Framing::lines ? cut_lines(caller) : cut_lengths(caller);
}

std::optional<std::string> SocketServer::cut_lines(Caller& caller) {
  std::size_t begin = 0;
  std::size_t end = caller.bytes.find('\n');
  for (; end != std::string::npos; end = caller.bytes.find('\n', begin)) {
    if (end - begin > options_.item_bytes_max) break;
    taken_->emplace_back(caller.bytes.substr(begin, end - begin));
    begin = end + 1;
  }
  caller.bytes.erase(0, begin);
  if (end == std::string::npos && caller.bytes.size() <= options_.item_bytes_max) {
    return std::nullopt;
  }
  return concat("a line: want at most ", options_.item_bytes_max, " bytes, found more");
}

std::optional<std::string> SocketServer::cut_lengths(Caller& caller) {
  std::size_t begin = 0;
  while (caller.bytes.size() - begin >= length_bytes) {
    const std::uint32_t length = length_at(caller.bytes.data() + begin);
    if (length > options_.item_bytes_max) {
      caller.bytes.clear();
      return concat("a message: want at most ", options_.item_bytes_max, " bytes, found ", length);
    }
    if (caller.bytes.size() - begin - length_bytes < length) break;
    taken_->emplace_back(caller.bytes.substr(begin + length_bytes, length));
    begin += length_bytes + length;
  }
  caller.bytes.erase(0, begin);
  return std::nullopt;
}

// A line may go without its end, as in a file; a message that is not whole is none.
std::string SocketServer::cut_off(Caller& caller) {
  if (caller.bytes.empty()) return "";
  if (framing_ == SocketSource::Framing::lines) {
    taken_->emplace_back(std::move(caller.bytes));
    return "";
  }
  return concat(caller.name, " left within a message: ", caller.bytes.size(), " bytes are dropped");
}

void SocketServer::leave(int fd, const std::string& warning) {
  poller_.forget(fd);
  callers_.erase(fd);
  taken_->emplace_back(std::nullopt);
  listener_->go_on();
  if (!warning.empty()) warnings_.warn("a connection from " + warning);
}

}  // namespace piracema::detail
