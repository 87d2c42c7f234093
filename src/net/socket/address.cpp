#include "net/socket/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>

#include "base/parse.h"
#include "base/text.h"

namespace piracema::net {

namespace {

constexpr std::string_view local_prefix = "local:";
constexpr std::size_t local_name_max = 100;

Error not_an_address(std::string_view text) {
  return {Errc::config, concat("address: want a number and a port, as 127.0.0.1:4711 or "
                               "[::1]:4711, found '",
                               text, "'")};
}

template <class Kind>
Kind as(const sockaddr_storage& storage) {
  Kind kind;
  std::memcpy(&kind, &storage, sizeof kind);
  return kind;
}

template <class Kind>
Address address(const Kind& kind) {
  sockaddr_storage storage{};
  std::memcpy(&storage, &kind, sizeof kind);
  return Address(storage);
}

}  // namespace

Result<Address> Address::parse(std::string_view text) {
  if (text.starts_with(local_prefix)) return make_local(text.substr(local_prefix.size()));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return not_an_address(text);
  std::string_view host = text.substr(0, colon);
  const auto port = parse_number<std::uint16_t>(text.substr(colon + 1));
  if (!port) return not_an_address(text);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  auto made = make(std::string(host), *port);
  if (!made || (made->family() == AF_INET6) != bracketed) return not_an_address(text);
  return made;
}

Result<Address> Address::make(const std::string& host, std::uint16_t port) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) return address(v4);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) return address(v6);
  return Error{Errc::config,
               concat("host: want a numeric address, as 127.0.0.1 or ::1, found '", host, "'")};
}

// A zero byte, then the name, zero bytes to the end of the storage: its length is found again.
Result<Address> Address::make_local(std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(),
                                 [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
  if (name.empty() || name.size() > local_name_max || !plain) {
    return Error{Errc::config, concat("address: want local: and a name of letters, digits and '-', "
                                      "found '",
                                      name.substr(0, local_name_max), "'")};
  }
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path + 1, name.data(), name.size());
  return address(local);
}

std::string Address::host() const {
  if (is_local()) return "this host";
  char text[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET) {
    const auto v4 = as<sockaddr_in>(storage_);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
  } else if (family() == AF_INET6) {
    const auto v6 = as<sockaddr_in6>(storage_);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  }
  return text;
}

std::uint16_t Address::port() const {
  // Both kinds have it at the same place.
  return ntohs(as<sockaddr_in>(storage_).sin_port);
}

std::string Address::text() const {
  if (is_local()) return concat(local_prefix, as<sockaddr_un>(storage_).sun_path + 1);
  return family() == AF_INET6 ? concat("[", host(), "]:", port()) : concat(host(), ":", port());
}

socklen_t Address::size() const {
  if (is_local()) {
    const auto local = as<sockaddr_un>(storage_);
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                  std::strlen(local.sun_path + 1));
  }
  return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

namespace {

// IPv4 in IPv6 (::ffff:10.0.0.1) is what is in it.
std::string plain_host(const Address& address) {
  const std::string host = address.host();
  constexpr std::string_view mapped = "::ffff:";
  const bool is_v4 = host.starts_with(mapped) && host.find('.') != host.npos;
  return is_v4 ? host.substr(mapped.size()) : host;
}

}  // namespace

Reach reach_of(const Address& ours, const Address& theirs) {
  if (ours.is_local() || theirs.is_local()) return Reach::local_socket;
  const std::string host = plain_host(theirs);
  const bool loopback = host == "::1" || (host.starts_with("127.") && host.find(':') == host.npos);
  return loopback || host == plain_host(ours) ? Reach::this_host : Reach::other_host;
}

Reach reach_of(int socket) {
  sockaddr_storage ours{}, theirs{};
  socklen_t size = sizeof ours;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&ours), &size) != 0) {
    return Reach::other_host;
  }
  size = sizeof theirs;
  if (ours.ss_family == AF_UNIX) return Reach::local_socket;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&theirs), &size) != 0) {
    return Reach::other_host;
  }
  return reach_of(Address(ours), Address(theirs));
}

Result<Addresses> Addresses::parse(std::string_view text) {
  const std::size_t comma = text.find(',');
  auto tcp = Address::parse(text.substr(0, comma));
  if (!tcp) return tcp.error();
  if (tcp->is_local()) return not_an_address(text);
  Addresses all{*tcp, std::nullopt};
  if (comma == std::string_view::npos) return all;
  auto local = Address::parse(text.substr(comma + 1));
  if (!local) return local.error();
  if (!local->is_local()) return not_an_address(text);
  all.local = *local;
  return all;
}

}  // namespace piracema::net
