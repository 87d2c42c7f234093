#include "observe/http/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace piracema::observe {

namespace {

constexpr std::size_t token_least = 16, token_most = 128;

bool is_equal(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

// "localhost:80" -> "localhost"; "[::1]:80" -> "::1".
std::string_view name_of_host(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end == host.npos ? "" : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

std::optional<unsigned> port_of_host(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon == host.npos || host.ends_with(']')) return 80;
  unsigned port = 0;
  for (const char c : host.substr(colon + 1)) {
    if (c < '0' || c > '9' || port > 65'535) return std::nullopt;
    port = 10 * port + static_cast<unsigned>(c - '0');
  }
  return port;
}

Response refusal(int code, std::string why) {
  return {code, "text/plain; charset=utf-8", why + "\n"};
}

}  // namespace

bool is_loopback(const net::Address& address) {
  if (address.family() == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, address.data(), sizeof in);
    return (ntohl(in.sin_addr.s_addr) >> 24) == 127;
  }
  sockaddr_in6 in{};
  std::memcpy(&in, address.data(), sizeof in);
  return address.family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in.sin6_addr) != 0;
}

Result<Done> check_token(std::string_view token) {
  const bool fits = std::all_of(token.begin(), token.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
  if (!fits || token.size() < token_least || token.size() > token_most) {
    return Error{Errc::config,
                 concat("want a token of ", token_least, " to ", token_most,
                        " letters, digits, '-', '_' and '.', found ",
                        fits ? concat(token.size(), " of them") : std::string("other characters"))};
  }
  return Done{};
}

Guard::Guard(const net::Address& listens, std::string token, Readers readers)
    : listens_(listens),
      loopback_(is_loopback(listens)),
      all_may_look_(loopback_ && readers == Readers::all),
      token_(std::move(token)) {}

std::string Guard::entrance() const {
  return concat("http://", listens_.text(), "/?token=", token_);
}

bool Guard::knows_token(const Request& request) const {
  constexpr std::string_view bearer = "Bearer ";
  const std::string_view authorization = request.authorization;
  if (authorization.starts_with(bearer) && is_equal(authorization.substr(bearer.size()), token_)) {
    return true;
  }
  return is_equal(request.cookie_token, token_) || is_equal(request.argument_token, token_);
}

// A name that somebody has let lead to loopback is not ours.
bool Guard::is_our_name(std::string_view host) const {
  const std::string_view name = name_of_host(host);
  // Over a tunnel the port is another one; the name is what counts.
  return port_of_host(host) &&
         (name == "localhost" || name == "127.0.0.1" || name == "::1" || name == listens_.host());
}

std::optional<Response> Guard::refuse(const Request& request) const {
  const bool changes = request.method != "GET" && request.method != "HEAD";
  if (loopback_ && !is_our_name(request.host)) {
    return refusal(421, "want Host: localhost or the address; this is another name for it");
  }
  const bool of_health =
      request.path == "/healthz" || request.path == "/livez" || request.path == "/readyz";
  if (!changes && (all_may_look_ || of_health)) return std::nullopt;
  if (!request.origin.empty() && changes && request.origin != concat("http://", request.host)) {
    return refusal(403, "this comes from a page of another site");
  }
  if (changes && request.mark.empty()) {
    return refusal(403, "want the header X-Piracema with any value");
  }
  if (!knows_token(request)) {
    Response response = refusal(
        401, "want the token: 'Authorization: Bearer TOKEN', or /?token=TOKEN in a browser");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  return std::nullopt;
}

}  // namespace piracema::observe
