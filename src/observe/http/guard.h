#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/socket/address.h"
#include "observe/http/request.h"

namespace piracema::observe {

/// Who may ask for what.
///
/// On loopback every process of the machine may look; what changes something wants the token. At
/// any other address everything wants it, but for the two questions of health. A page of another
/// site that a browser shows can neither change anything (Origin, and a header that such a page may
/// not send) nor read by a name of its own that leads here (Host, DNS rebinding).
class Guard {
 public:
  /// `listens` is where requests come, with the port that was given.
  Guard(const net::Address& listens, std::string token);

  /// The answer to who may not; nothing: go on.
  std::optional<Response> refuse(const Request& request) const;

  const std::string& token() const { return token_; }
  /// Of the cookie that holds the token: jobs on other ports of this machine have others.
  std::string cookie_name() const { return "piracema_" + std::to_string(listens_.port()); }
  /// Where it may be looked at with a browser, with the token.
  std::string entrance() const;

 private:
  bool knows_token(const Request& request) const;
  bool is_our_name(std::string_view host) const;

  const net::Address listens_;
  const bool loopback_;
  const std::string token_;
};

/// Whether only this machine reaches it: 127.0.0.0/8, ::1.
bool is_loopback(const net::Address& address);

/// Errc::config for a token that is too short to be one, too long, or of other characters than
/// letters, digits, '-', '_' and '.'.
Result<Done> check_token(std::string_view token);

}  // namespace piracema::observe
