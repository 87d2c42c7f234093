#include "net/handshake.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::net;

namespace {
const std::string token = "0123456789abcdef0123456789abcdef";
const std::string other = "0123456789abcdef0123456789abcdee";
}  // namespace

TEST_CASE("a greeting of this job is read as it was written") {
  auto greeting = read_greeting(to_frame({transport_version, token, 3, 7}), token);
  REQUIRE(greeting.ok());
  CHECK(greeting->slot == 3);
  CHECK(greeting->incarnation == 7);
}

TEST_CASE("a greeting of another version or job is refused with what was wanted and found") {
  auto version = read_greeting(to_frame({1, "whatever comes then", 3, 7}), token);
  REQUIRE_FALSE(version.ok());
  CHECK(version.error().code == Errc::refused);
  CHECK(version.error().message == "handshake: want version 3 of the transport, found 1");

  auto job = read_greeting(to_frame({transport_version, other, 3, 7}), token);
  REQUIRE_FALSE(job.ok());
  CHECK(job.error().code == Errc::refused);
  CHECK(job.error().message.find(other) == std::string::npos);
}

TEST_CASE("a frame that is no greeting is refused") {
  wire::Frame frame = to_frame({transport_version, token, 3, 7});
  frame.head.resize(frame.head.size() - 1);
  CHECK(read_greeting(frame, token).error().code == Errc::corrupt);
  frame = to_frame({transport_version, token, 3, 7});
  frame.kind = 1;
  CHECK(read_greeting(frame, token).error().code == Errc::corrupt);
}

TEST_CASE("secrets are the same only if every character is") {
  CHECK(same_secret(token, token));
  CHECK_FALSE(same_secret(token, other));
  CHECK_FALSE(same_secret(token, token.substr(1)));
  CHECK_FALSE(same_secret("", token));
}
