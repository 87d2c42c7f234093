#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/socket/address.h"
#include "observe/http/request.h"

namespace piracema::observe {

/// Who may ask for what.
///
/// What changes something wants the token. So does looking, but for the questions of health, unless
/// everybody may: on loopback every process of the machine. A page of another site that a browser
/// shows can neither change anything (Origin, and a header that such a page may not send) nor read
/// by a name of its own that leads here (Host, DNS rebinding).
class Guard {
 public:
  enum class Readers { all, with_token };

  /// `listens` is where requests come, with the port that was given; beyond loopback readers want
  /// the token in any case.
  Guard(const net::Address& listens, std::string token, Readers readers);

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
  const bool loopback_, all_may_look_;
  const std::string token_;
};

/// Whether only this machine reaches it: 127.0.0.0/8, ::1.
bool is_loopback(const net::Address& address);

/// Errc::config for a token that is too short to be one, too long, or of other characters than
/// letters, digits, '-', '_' and '.'.
Result<Done> check_token(std::string_view token);

}  // namespace piracema::observe
