#include "net/socket/host_port.h"

#include <netdb.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "base/no_signals.h"
#include "base/parse.h"
#include "base/text.h"

namespace piracema::net {

namespace {

constexpr std::size_t name_bytes_max = 253;

// What looks like a number is one, or wrong.
bool is_name(std::string_view text) {
  if (text.empty() || text.size() > name_bytes_max || text.front() == '-') return false;
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
  });
  const std::string_view last = text.substr(text.rfind('.') + 1);
  return plain && std::any_of(last.begin(), last.end(),
                              [](unsigned char c) { return std::isalpha(c) != 0; });
}

}  // namespace

Result<HostPort> HostPort::parse(std::string_view text) {
  if (text.starts_with("local:")) return Error{Errc::config, "want a TCP address, found local:"};
  if (const auto address = Address::parse(text)) return HostPort(*address);
  const std::size_t colon = std::min(text.rfind(':'), text.size());
  HostPort found;
  found.host = text.substr(0, colon);
  const auto port = parse_number<std::uint16_t>(text.substr(std::min(colon + 1, text.size())));
  if (!port || !is_name(found.host)) {
    return Error{Errc::config, concat("address: want a host and a port, as 10.0.0.1:7000, "
                                      "[::1]:7000 or db.example.org:7000, found '",
                                      text.substr(0, 300), "'")};
  }
  found.port = *port;
  return found;
}

std::string HostPort::text() const {
  return host.find(':') == host.npos ? concat(host, ":", port) : concat("[", host, "]:", port);
}

Result<std::vector<Address>> HostPort::look_up() const {
  if (auto address = numeric()) return std::vector<Address>{*address};
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (failed != 0) {
    return Error{Errc::io,
                 concat("looking up '", host, "': ", std::string_view(::gai_strerror(failed)))};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> freed(found, ::freeaddrinfo);
  std::vector<Address> all;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    sockaddr_storage storage{};
    std::memcpy(&storage, one->ai_addr, std::min<std::size_t>(one->ai_addrlen, sizeof storage));
    all.emplace_back(storage);
  }
  return all;
}

/// What the thread and the Lookup know of each other.
struct Lookup::Shared {
  std::mutex mutex;
  /// Null once nobody wants to know.
  Poller* poller = nullptr;
  OnDone done;
};

Lookup::Lookup(Poller& poller, const HostPort& what, OnDone done)
    : shared_(std::make_shared<Shared>()) {
  shared_->poller = &poller;
  shared_->done = std::move(done);
  // It is left alone when nobody waits for it any more, and owns what it uses.
  const NoSignals no_signals;
  std::thread([shared = shared_, what] {
    auto found = what.look_up();
    const std::lock_guard lock(shared->mutex);
    if (shared->poller == nullptr) return;
    shared->poller->post([shared, found = std::move(found)] {
      {
        const std::lock_guard again(shared->mutex);
        if (shared->poller == nullptr) return;
      }
      const auto tell = std::move(shared->done);
      tell(found);
    });
  }).detach();
}

Lookup::~Lookup() {
  const std::lock_guard lock(shared_->mutex);
  shared_->poller = nullptr;
}

}  // namespace piracema::net
