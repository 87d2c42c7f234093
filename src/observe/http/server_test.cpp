#include "observe/http/server.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <random>
#include <vector>

#include "base/fd.h"
#include "observe/http/job_pages.h"

using namespace piracema;
using namespace piracema::observe;

namespace {

Fd dial(const net::Address& address) {
  Fd socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(socket.get(), address.data(), address.size()) == 0);
  return socket;
}

// What comes until the other side closes; empty as well if that takes 30 seconds.
std::string read_all(const Fd& socket) {
  std::string text;
  for (;;) {
    pollfd ready{socket.get(), POLLIN, 0};
    if (::poll(&ready, 1, 30'000) != 1) return "";
    char bytes[4'096];
    const ssize_t count = ::recv(socket.get(), bytes, sizeof bytes, 0);
    if (count <= 0) return text;
    text.append(bytes, static_cast<std::size_t>(count));
  }
}

void send_all(const Fd& socket, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = ::send(socket.get(), text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (count <= 0) return;  // It has hung up, as it may.
    at += static_cast<std::size_t>(count);
  }
}

std::string ask(const net::Address& address, const std::string& request) {
  const Fd socket = dial(address);
  send_all(socket, request);
  return read_all(socket);
}

std::string get(const net::Address& address, const std::string& path) {
  return ask(address, "GET " + path + " HTTP/1.1\r\nHost: " + address.text() +
                          "\r\nConnection: close\r\n\r\n");
}

struct Served {
  Board board{JobFacts{.command = {"app"}}};
  std::unique_ptr<HttpServer> server;

  bool start(HttpOptions options = {}) {
    auto started = HttpServer::start(options, std::make_shared<JobPages>(board));
    if (!started) {
      // A build without the library says what to do, and has nothing else to show.
      REQUIRE(started.error().message.find("install libmicrohttpd") != std::string::npos);
      MESSAGE("SKIPPED: ", started.error().message);
      return false;
    }
    server = *std::move(started);
    return true;
  }
  net::Address address() const { return server->address(); }
};

struct TokenFile {
  explicit TokenFile(const std::string& text, mode_t mode = 0600) {
    const int fd = ::mkstemp(path);
    REQUIRE(fd >= 0);
    REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    REQUIRE(::fchmod(fd, mode) == 0);
    ::close(fd);
  }
  ~TokenFile() { ::unlink(path); }
  char path[32] = "/tmp/piracema-token-XXXXXX";
};

std::string error_of(const HttpOptions& options) {
  Board board{JobFacts{}};
  const auto started = HttpServer::start(options, std::make_shared<JobPages>(board));
  return started ? "" : started.error().message;
}

}  // namespace

TEST_CASE("it listens on loopback, and answers until it is destroyed") {
  Served served;
  if (!served.start()) return;
  CHECK(served.address().host() == "127.0.0.1");
  CHECK(served.address().port() != 0);
  CHECK(served.server->entrance().starts_with("http://127.0.0.1:"));
  const std::string answer = get(served.address(), "/api/v1/job");
  CHECK(answer.starts_with("HTTP/1.1 200"));
  CHECK(answer.find("\"program\":\"app\"") != answer.npos);

  const net::Address address = served.address();
  served.server.reset();
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  CHECK(::connect(socket.get(), address.data(), address.size()) != 0);
}

TEST_CASE("addresses are said in a few ways, and none other") {
  CHECK(http_address("")->text() == "127.0.0.1:0");
  CHECK(http_address("true")->text() == "127.0.0.1:0");
  CHECK(http_address("8080")->text() == "127.0.0.1:8080");
  CHECK(http_address("[::1]:80")->text() == "[::1]:80");
  for (const char* wrong :
       {"localhost:80", "127.0.0.1", "70000", "-1", "local:x", "http://127.0.0.1:80"}) {
    CAPTURE(wrong);
    CHECK_FALSE(http_address(wrong));
  }
}

TEST_CASE("beyond loopback there has to be a token, in a file for its owner alone") {
  CHECK(error_of({"0.0.0.0:0", ""}).find("want a file with a token") != std::string::npos);
  CHECK(error_of({"0.0.0.0:0", "/nowhere/token"}).find("/nowhere/token") != std::string::npos);
  CHECK(error_of({"0.0.0.0:0", TokenFile("short").path}).find("found 5") != std::string::npos);
  const TokenFile open("0123456789abcdef\n", 0644);
  CHECK(error_of({"0.0.0.0:0", open.path}).find("chmod 600") != std::string::npos);
  CHECK(error_of({"0.0.0.0:0", "/dev/null"}).find("want a file") != std::string::npos);

  const TokenFile token("0123456789abcdef\n");
  Served served;
  if (!served.start({"0.0.0.0:0", token.path})) return;
  const net::Address here = *net::Address::make("127.0.0.1", served.address().port());
  CHECK(get(here, "/api/v1/job").starts_with("HTTP/1.1 401"));
  CHECK(get(here, "/healthz").starts_with("HTTP/1.1 200"));
  CHECK(ask(here,
            "GET /api/v1/job HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer 0123456789abcdef\r\n"
            "Connection: close\r\n\r\n")
            .starts_with("HTTP/1.1 200"));
  CHECK(ask(here, "GET / HTTP/1.1\r\nHost: x\r\nCookie: a=b; piracema_" +
                      std::to_string(here.port()) +
                      "=0123456789abcdef\r\nConnection: close\r\n\r\n")
            .starts_with("HTTP/1.1 200"));
}

TEST_CASE("whoever runs the job finds its address in a file, and nobody else may look") {
  const TokenFile before("an older one, and longer than what comes, which is another address\n",
                         0644);
  ::setenv("PIRACEMA_HTTP_FILE", before.path, 1);
  const auto options = http_options("", "");
  REQUIRE(options.has_value());
  CHECK(http_options("8080", "")->address_file == before.path);
  CHECK_FALSE(http_options("8080", "")->is_for_runner);
  ::unsetenv("PIRACEMA_HTTP_FILE");
  CHECK_FALSE(http_options("", "").has_value());

  Served served;
  if (!served.start(*options)) return;
  struct stat status {};
  REQUIRE(::stat(before.path, &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  std::string line;
  std::getline(std::ifstream(before.path), line);
  CHECK(line == served.server->entrance());
  CHECK(get(served.address(), "/api/v1/job").starts_with("HTTP/1.1 401"));
  CHECK(get(served.address(), line.substr(line.find("/?")) + "&x=").starts_with("HTTP/1.1 303"));
  served.server.reset();
  CHECK(::access(before.path, F_OK) != 0);

  // A job whose runner cannot have it goes on; one whose user wants it does not.
  const HttpOptions nowhere{.address_file = "/nowhere/address", .is_for_runner = true};
  const auto none = HttpServer::start_if_can(nowhere, std::make_shared<JobPages>(served.board));
  REQUIRE(none.ok());
  CHECK(*none == nullptr);
  CHECK(HttpServer::start_if_can({"", "", "/nowhere/address"},
                                 std::make_shared<JobPages>(served.board))
            .error()
            .message.find("'/nowhere/address'") != std::string::npos);
}

TEST_CASE("an address that is taken is named") {
  Served first;
  if (!first.start()) return;
  const std::string text = first.address().text();
  CHECK(error_of({text, ""}).find(text) != std::string::npos);
}

TEST_CASE("another name for loopback is refused, and who says no name") {
  Served served;
  if (!served.start()) return;
  CHECK(ask(served.address(),
            "GET /api/v1/job HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
            .starts_with("HTTP/1.1 421"));
  CHECK(ask(served.address(), "GET /api/v1/job HTTP/1.0\r\n\r\n").find(" 421 ") !=
        std::string::npos);
}

TEST_CASE("random bytes, a header without end and a body without end are closed, and it goes on") {
  Served served;
  if (!served.start()) return;
  std::mt19937 random(4711);
  for (int i = 0; i < 50; ++i) {
    std::string bytes(1 + random() % 5'000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    const Fd socket = dial(served.address());
    send_all(socket, bytes);
  }
  const std::string long_header =
      ask(served.address(), "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(1 << 20, 'a'));
  CHECK_FALSE(long_header.starts_with("HTTP/1.1 200"));
  const std::string long_body =
      ask(served.address(),
          "POST /api/v1/stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n\r\n" +
              std::string(1 << 20, 'a'));
  CHECK(long_body.find(" 20") == std::string::npos);
  CHECK(get(served.address(), "/healthz").starts_with("HTTP/1.1 200"));
}

TEST_CASE("more connections than it takes are turned away, and those before are served") {
  Served served;
  if (!served.start()) return;
  const Fd first = dial(served.address());
  send_all(first, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n");
  std::vector<Fd> many;
  // So many that some wait in line, and not so many that the kernel lets them wait outside.
  for (int i = 0; i < 100; ++i) many.push_back(dial(served.address()));
  send_all(first, "Connection: close\r\n\r\n");
  CHECK(read_all(first).starts_with("HTTP/1.1 200"));
  many.clear();
  // It hears of their ends in its own time.
  bool served_again = false;
  for (int i = 0; i < 1'000 && !served_again; ++i) {
    served_again = get(served.address(), "/healthz").starts_with("HTTP/1.1 200");
  }
  CHECK(served_again);
}

TEST_CASE("a request to stop reaches the job from another thread") {
  Served served;
  if (!served.start()) return;
  int asked = 0;
  served.board.when_asked_to_stop([&] { asked += 1; });
  const std::string entrance = served.server->entrance();
  const std::string token = entrance.substr(entrance.find('=') + 1);
  const std::string head = "POST /api/v1/stop HTTP/1.1\r\nHost: " + served.address().text() +
                           "\r\nConnection: close\r\nContent-Length: 0\r\nAuthorization: Bearer ";
  CHECK(ask(served.address(), head + token + "\r\n\r\n").starts_with("HTTP/1.1 403"));
  CHECK(ask(served.address(), head + "wrong\r\nX-Piracema: 1\r\n\r\n").starts_with("HTTP/1.1 401"));
  CHECK(ask(served.address(), head + token + "\r\nX-Piracema: 1\r\n\r\n")
            .starts_with("HTTP/1.1 202"));
  served.board.when_asked_to_stop({});
  CHECK(asked == 1);
}
