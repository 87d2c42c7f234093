#pragma once

#include <string>
#include <utility>
#include <vector>

namespace piracema::observe {

/// What matters of a request; what it does not say is empty.
struct Request {
  std::string method, path;
  /// Headers of these names.
  std::string host, origin, authorization, accept;
  /// The value of the header X-Piracema, which no page of another site can send without asking.
  std::string mark;
  /// The cookie and the argument of the address that may hold the token.
  std::string cookie_token, argument_token;
  /// Arguments `node` and `from` of the address.
  std::string node, from;
  /// Arguments of a request to scale: "count=3,write=2", and a number.
  std::string replicas{}, workers{};
  /// Argument of one for the log of a job.
  std::string job{};
  /// Argument of one for a savepoint.
  std::string name{};
};

struct Response {
  int code = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body{};
  /// Beside those that every response has.
  std::vector<std::pair<std::string, std::string>> headers{};
};

}  // namespace piracema::observe
