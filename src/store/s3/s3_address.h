#pragma once

#include <piracema/error.h>

#include <string>

namespace piracema::store {

/// "s3://BUCKET/PREFIX": where the objects of a store lie.
struct S3Address {
  std::string bucket;
  /// Without a slash at either end; empty: the whole bucket.
  std::string prefix;

  /// Errc::config. Wants a bucket's name as S3 has it, and a prefix of letters, digits, and of
  /// "-_.~/" , whose words are not empty, "." or "..": what is the same in every address.
  static Result<S3Address> parse(const std::string& text);
  std::string text() const;
};

/// Where a server is and who we are there.
struct S3Server {
  /// "https://host:port", without a slash at its end.
  std::string endpoint;
  std::string region;
  std::string key_id, secret;
  /// Of keys that are lent for a while; else empty.
  std::string session_token;

  /// As other programs are told, by AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL (else Amazon's server
  /// of the region), AWS_REGION or AWS_DEFAULT_REGION (else us-east-1), AWS_ACCESS_KEY_ID,
  /// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. Errc::config names the variable that is missing.
  static Result<S3Server> from_environment();
};

}  // namespace piracema::store
