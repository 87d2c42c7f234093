#include "store/s3/s3_address.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "store/http/url_text.h"

namespace piracema::store {

namespace {

constexpr std::string_view scheme = "s3://";
/// S3 allows 1,024 bytes for the name of an object; the rest is ours.
constexpr std::size_t prefix_bytes_max = 900;

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_bucket(std::string_view name) {
  if (name.size() < 3 || name.size() > 63) return false;
  if (!is_lower_or_digit(name.front()) || !is_lower_or_digit(name.back())) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_lower_or_digit(c) || c == '-' || c == '.'; });
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string variable(const char* first, const char* second) {
  std::string value = variable(first);
  return value.empty() ? variable(second) : value;
}

Error missing(const char* name, const char* what) {
  return {Errc::config,
          concat("s3: want ", what, " in the environment variable ", name, ", found none")};
}

bool is_header_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

Result<S3Address> S3Address::parse(const std::string& text) {
  const auto wrong = [&](std::string_view want) {
    return Error{Errc::config, concat("want s3://BUCKET/PREFIX, ", want, ", found \"", text, "\"")};
  };
  if (!text.starts_with(scheme)) return wrong("which begins with s3://");
  const std::string_view rest = std::string_view(text).substr(scheme.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  S3Address address{std::string(rest.substr(0, slash)), ""};
  if (!is_bucket(address.bucket)) {
    return wrong("with a bucket of 3 to 63 lower-case letters, digits, '-' and '.'");
  }
  std::string_view prefix = rest.substr(slash);
  if (!prefix.empty()) prefix.remove_prefix(1);
  if (prefix.ends_with('/')) prefix.remove_suffix(1);
  address.prefix = prefix;
  if (prefix.size() > prefix_bytes_max) {
    return wrong(concat("with a prefix of at most ", prefix_bytes_max, " bytes"));
  }
  if (!prefix.empty() && !is_plain_path(prefix)) {
    return wrong("with a prefix of words of letters, digits and \"-_.~\" with slashes between");
  }
  return address;
}

std::string S3Address::text() const {
  return concat(scheme, bucket, prefix.empty() ? "" : "/", prefix);
}

Result<S3Server> S3Server::from_environment() {
  S3Server server;
  server.region = variable("AWS_REGION", "AWS_DEFAULT_REGION");
  if (server.region.empty()) server.region = "us-east-1";
  server.endpoint = variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
  if (server.endpoint.empty()) {
    server.endpoint = concat("https://s3.", server.region, ".amazonaws.com");
  }
  while (server.endpoint.ends_with('/')) server.endpoint.pop_back();
  const bool is_http =
      server.endpoint.starts_with("http://") || server.endpoint.starts_with("https://");
  if (!is_http || !is_header_text(server.endpoint)) {
    return Error{Errc::config, concat("AWS_ENDPOINT_URL: want http://HOST:PORT or "
                                      "https://HOST:PORT, found \"",
                                      server.endpoint, "\"")};
  }
  const bool is_region = std::all_of(server.region.begin(), server.region.end(),
                                     [](char c) { return is_lower_or_digit(c) || c == '-'; });
  if (!is_region) {
    return Error{Errc::config, concat("AWS_REGION: want a region such as us-east-1, found \"",
                                      server.region, "\"")};
  }
  server.key_id = variable("AWS_ACCESS_KEY_ID");
  server.secret = variable("AWS_SECRET_ACCESS_KEY");
  server.session_token = variable("AWS_SESSION_TOKEN");
  if (server.key_id.empty()) return missing("AWS_ACCESS_KEY_ID", "the name of a key");
  if (server.secret.empty()) return missing("AWS_SECRET_ACCESS_KEY", "the secret of the key");
  // What is wrong is not shown: it is a secret.
  if (!is_header_text(server.key_id) || !is_header_text(server.session_token)) {
    return Error{Errc::config,
                 "AWS_ACCESS_KEY_ID, AWS_SESSION_TOKEN: want no spaces or control characters"};
  }
  return server;
}

}  // namespace piracema::store
