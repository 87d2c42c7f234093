#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "store/s3/s3_address.h"

namespace piracema::store {

struct HttpRequest {
  std::string method;
  /// Behind the endpoint, encoded as it is to be sent: "/bucket/key".
  std::string path;
  /// Its parts in their order and encoded, each with a "=".
  std::string query{};
  /// "Name: value"
  std::vector<std::string> headers{};
  /// One behind the other; of PUT and POST.
  std::vector<Bytes> body{};
  /// A longer answer is an error.
  std::size_t answer_bytes_max = 64 << 10;
};

struct HttpAnswer {
  long status = 0;
  /// By names in lower case.
  std::map<std::string, std::string> headers{};
  Buffer body{};

  /// Empty if there is none.
  std::string header(const std::string& name) const;
};

/// How long one request may take: it ends when it has no connection, or when nothing has moved, for
/// so long, and whatever its server does once it has taken that and a second for each 100 kB.
struct HttpPatience {
  std::chrono::milliseconds connect{5'000};
  std::chrono::seconds silent{10};
  std::chrono::seconds all{60};
};

/// Sends requests to a server of S3, signed, by libcurl, which is loaded when the first client is
/// made. Any thread; as many connections as there are requests at a time, which are kept.
class HttpClient {
 public:
  /// Errc::config without libcurl.
  static Result<std::unique_ptr<HttpClient>> make(const S3Server& server, HttpPatience patience);
  virtual ~HttpClient() = default;

  /// One try. Errc::timeout where another one may succeed: no connection, no answer, half of one.
  /// Errc::io else, such as a certificate that is wrong. The message is the reason alone.
  virtual Result<HttpAnswer> send(const HttpRequest& request) = 0;
};

}  // namespace piracema::store
