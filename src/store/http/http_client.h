#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace piracema::store {

struct HttpRequest {
  std::string method;
  /// "https://host:port/path", encoded as it is to be sent.
  std::string url;
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

/// By which requests are signed, after version 4 of Amazon's signatures, for S3.
struct HttpKeys {
  std::string region, key_id, secret;
  /// Of keys that are lent for a while; else empty.
  std::string session_token;
};

/// Sends requests by libcurl, which is loaded when the first client is made. Redirections are
/// answers like others. Any thread; as many connections as there are requests at a time, which are
/// kept.
class HttpClient {
 public:
  /// Errc::config without libcurl, with what wants it: "s3://".
  static Result<std::unique_ptr<HttpClient>> make(const std::string& what_for,
                                                  const std::optional<HttpKeys>& keys,
                                                  HttpPatience patience);
  virtual ~HttpClient() = default;

  /// One try. Errc::timeout where another one may succeed: no connection, no answer, half of one.
  /// Errc::io else, such as a certificate that is wrong. The message is the reason alone.
  virtual Result<HttpAnswer> send(const HttpRequest& request) = 0;
};

}  // namespace piracema::store
