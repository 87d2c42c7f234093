#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <charconv>
#include <cstring>

#include "base/text.h"

namespace piracema::net {

namespace {

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
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return not_an_address(text);
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (wrong != std::errc() || end != digits.data() + digits.size()) return not_an_address(text);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  auto made = make(std::string(host), port);
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

std::string Address::host() const {
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
  return family() == AF_INET6 ? concat("[", host(), "]:", port()) : concat(host(), ":", port());
}

socklen_t Address::size() const {
  return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

}  // namespace piracema::net
