#include "observe/http/guard.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::observe;

namespace {

const std::string token = "0123456789abcdef";

Guard guard_at(const char* address, Guard::Readers readers = Guard::Readers::all) {
  return Guard(*net::Address::parse(address), token, readers);
}

Request get(const std::string& path, const std::string& host = "127.0.0.1:8080") {
  return {.method = "GET", .path = path, .host = host};
}
Request post(const std::string& host = "127.0.0.1:8080") {
  return {.method = "POST",
          .path = "/api/v1/stop",
          .host = host,
          .authorization = "Bearer " + token,
          .mark = "1"};
}

int code(const std::optional<Response>& response) { return response ? response->code : 0; }

}  // namespace

TEST_CASE("on loopback everybody may look, by any of its names and through a tunnel") {
  const Guard guard = guard_at("127.0.0.1:8080");
  for (const char* host :
       {"127.0.0.1:8080", "localhost:8080", "localhost:9999", "localhost", "[::1]:1"}) {
    CAPTURE(host);
    CHECK_FALSE(guard.refuse(get("/metrics", host)));
  }
}

TEST_CASE("a name that somebody has let lead to loopback is refused, for reading too") {
  const Guard guard = guard_at("127.0.0.1:8080");
  for (const char* host : {"evil.example:8080", "", "127.0.0.1.evil.example", "localhost.evil:80",
                           "[::1", "127.0.0.1:80x", "localhost:99999999999999999999"}) {
    CAPTURE(host);
    CHECK(code(guard.refuse(get("/", host))) == 421);
  }
}

TEST_CASE("what changes something wants the token, on loopback too") {
  const Guard guard = guard_at("127.0.0.1:8080");
  CHECK_FALSE(guard.refuse(post()));
  Request request = post();
  request.authorization = "";
  CHECK(code(guard.refuse(request)) == 401);
  request.authorization = "Bearer 0123456789abcdeX";
  CHECK(code(guard.refuse(request)) == 401);
  request.cookie_token = token;
  CHECK_FALSE(guard.refuse(request));
}

TEST_CASE("a page of another site cannot change anything, even with the cookie") {
  const Guard guard = guard_at("127.0.0.1:8080");
  Request request = post();
  request.authorization = "";
  request.cookie_token = token;
  request.origin = "http://evil.example";
  CHECK(code(guard.refuse(request)) == 403);
  request.origin = "null";
  CHECK(code(guard.refuse(request)) == 403);
  request.origin = "http://127.0.0.1:8080";
  CHECK_FALSE(guard.refuse(request));
  request.mark = "";  // A form can be sent from anywhere, this header cannot.
  CHECK(code(guard.refuse(request)) == 403);
}

TEST_CASE("beyond loopback nobody looks without the token, but for health") {
  const Guard guard = guard_at("192.0.2.1:8080");
  CHECK(code(guard.refuse(get("/", "x:8080"))) == 401);
  CHECK(code(guard.refuse(get("/metrics", "x:8080"))) == 401);
  CHECK_FALSE(guard.refuse(get("/healthz", "x:8080")));
  CHECK_FALSE(guard.refuse(get("/readyz", "x:8080")));
  Request request = get("/", "x:8080");
  request.argument_token = token;
  CHECK_FALSE(guard.refuse(request));
}

TEST_CASE("where other people use the machine looking may want the token, too") {
  const Guard guard = guard_at("127.0.0.1:8080", Guard::Readers::with_token);
  CHECK(code(guard.refuse(get("/"))) == 401);
  CHECK(code(guard.refuse(get("/api/v1/log"))) == 401);
  CHECK(code(guard.refuse(get("/", "evil.example"))) == 421);
  CHECK_FALSE(guard.refuse(get("/livez")));
  Request request = get("/");
  request.cookie_token = token;
  CHECK_FALSE(guard.refuse(request));
}

TEST_CASE("a method that nobody knows is taken for one that changes something") {
  Request request = get("/");
  request.method = "BREW";
  CHECK(code(guard_at("127.0.0.1:8080").refuse(request)) == 403);
}

TEST_CASE("a token that can be guessed, or that breaks a header, is none") {
  CHECK(check_token(token));
  CHECK_FALSE(check_token("short"));
  CHECK_FALSE(check_token(std::string(129, 'a')));
  CHECK_FALSE(check_token(token + "\n"));
  CHECK_FALSE(check_token(token + " "));
}

TEST_CASE("only loopback is loopback") {
  CHECK(is_loopback(*net::Address::parse("127.0.0.1:1")));
  CHECK(is_loopback(*net::Address::parse("127.9.9.9:1")));
  CHECK(is_loopback(*net::Address::parse("[::1]:1")));
  CHECK_FALSE(is_loopback(*net::Address::parse("0.0.0.0:1")));
  CHECK_FALSE(is_loopback(*net::Address::parse("10.0.0.1:1")));
  CHECK_FALSE(is_loopback(*net::Address::parse("[::]:1")));
}
