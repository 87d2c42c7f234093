#include <piracema/detail/callable.h>
#include <piracema/socket.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.h"
#include "base/hint.h"
#include "connect/files/temporary_directory.h"
#include "connect/streams/streams_testing.h"
#include "net/socket/address.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

static_assert(detail::Archived<SocketLines> && detail::Archived<SocketMessages>);

// A port that was free a moment ago, and that no outgoing connection gets: the system gives those
// from 32768 on, and each process of a test another one.
std::string free_port() {
  static std::uint16_t next = static_cast<std::uint16_t>(10'000 + ::getpid() % 20'000);
  for (;; ++next) {
    const auto address = net::Address::make("127.0.0.1", next);
    const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::bind(socket.get(), address->data(), address->size()) == 0) return std::to_string(next++);
  }
}

struct Caller {
  explicit Caller(const std::string& port)
      : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto address = net::Address::parse("127.0.0.1:" + port);
    REQUIRE(::connect(socket.get(), address->data(), address->size()) == 0);
  }
  void say(const std::string& text) const {
    REQUIRE(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
  }
  bool is_hung_up_on() const {
    char byte = 0;
    return ::recv(socket.get(), &byte, 1, 0) <= 0;
  }
  Fd socket;
};

std::string message(const std::string& text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift & 0xFF);
  return bytes + text;
}

SocketOptions options(std::uint64_t ends_after, const std::string& journal = "") {
  SocketOptions with;
  with.ends_after = ends_after;
  with.journal = journal;
  return with;
}

}  // namespace

TEST_CASE("lines of several connections come as they are sent, each connection's in order") {
  const std::string port = free_port();
  Running<SocketLines> lines(SocketLines(port, options(2)), {}, first_time());
  CHECK(lines.has_nothing_yet());
  auto one = std::make_unique<Caller>(port), two = std::make_unique<Caller>(port);
  one->say("1a\n1b\n1");
  CHECK(lines.next(2) == Texts{"1a", "1b"});
  two->say("2a\n\n");
  CHECK(lines.next(2) == Texts{"2a", ""});
  one->say("c\nrest");
  CHECK(lines.next() == "1c");
  one.reset();
  CHECK(lines.next() == "rest");
  CHECK(lines.has_nothing_yet());
  two.reset();
  CHECK(lines.has_ended());
}

TEST_CASE("messages have their length before them, and one that is cut off is none") {
  const std::string port = free_port();
  Running<SocketMessages> messages(SocketMessages(port, options(2)), {}, first_time());
  auto one = std::make_unique<Caller>(port);
  const std::string all = message("first") + message("") + message(std::string(300'000, 'x'));
  one->say(all.substr(0, 7));
  CHECK(messages.has_nothing_yet());
  one->say(all.substr(7));
  CHECK(messages.next(2) == Texts{"first", ""});
  CHECK(messages.next()->size() == 300'000);
  one->say(message("cut off").substr(0, 8));
  one.reset();
  Caller(port).say(message("last"));
  CHECK(messages.next() == "last");
  CHECK(messages.has_ended());
}

TEST_CASE("whoever sends what is too long is cut off, and the others go on") {
  const std::string port = free_port();
  SocketOptions with = options(0);
  with.item_bytes_max = 10;
  Running<SocketLines> lines(SocketLines(port, with), {}, first_time());
  const Caller bad(port), good(port);
  bad.say("fine\n" + std::string(11, 'x'));
  good.say("good\n");
  Texts found = lines.next(2);
  std::sort(found.begin(), found.end());
  CHECK(found == Texts{"fine", "good"});
  CHECK(bad.is_hung_up_on());
  good.say("better\n");
  CHECK(lines.next() == "better");

  const std::string other = free_port();
  Running<SocketMessages> messages(SocketMessages(other, with), {}, first_time());
  const Caller lies(other), tells(other);
  lies.say("\xff\xff\xff\xff");
  tells.say(message("truth"));
  CHECK(messages.next() == "truth");
  while (messages.has_nothing_yet() && ::send(lies.socket.get(), "x", 1, MSG_NOSIGNAL) == 1) {
  }
  CHECK(lies.is_hung_up_on());
}

TEST_CASE("callers beyond the limit wait in line until one has left") {
  const std::string port = free_port();
  SocketOptions with = options(3);
  with.connections_max = 1;
  Running<SocketLines> lines(SocketLines(port, with), {}, first_time());
  auto first = std::make_unique<Caller>(port);
  first->say("first\n");
  CHECK(lines.next() == "first");
  auto second = std::make_unique<Caller>(port);
  second->say("second\n");
  CHECK(lines.has_nothing_yet());
  first->say("first again\n");
  CHECK(lines.next() == "first again");
  first.reset();
  CHECK(lines.next() == "second");
  second.reset();
  Caller(port).say("third\n");
  CHECK(lines.next() == "third");
  CHECK(lines.has_ended());
}

TEST_CASE("with a journal what was taken since the snapshot is given again, once and in order") {
  const TemporaryDirectory directory;
  const std::string port = free_port();
  const SocketLines prototype(port, options(2, directory.path("journal")));
  auto lines = std::make_unique<Running<SocketLines>>(prototype, Buffer(), first_time());
  auto caller = std::make_unique<Caller>(port);
  caller->say("one\ntwo\nthree\nfour\n");
  caller.reset();
  CHECK(lines->next() == "one");
  const Buffer state = lines->state();
  CHECK(lines->next(3) == Texts{"two", "three", "four"});
  CHECK(lines->has_nothing_yet());  // It has seen that the caller left.
  lines.reset();

  Running<SocketLines> after(prototype, state, Context{.node = "in"});
  CHECK(after.next(3) == Texts{"two", "three", "four"});
  Caller(port).say("five\n");
  CHECK(after.next() == "five");
  CHECK(after.has_ended());  // The first one that left counts.
}

TEST_CASE("what cannot be a source at a socket is told at the start") {
  const auto error = [](const std::string& address, SocketOptions with = {}) {
    return error_of(
        [&] { Running<SocketLines>(SocketLines(address, std::move(with)), {}, first_time()); });
  };
  for (const std::string wrong : {"", "port", "70000", "localhost:1", "local:name", "1.2.3.4:"}) {
    CAPTURE(wrong);
    CHECK(error(wrong).find("want PORT or HOST:PORT") != std::string::npos);
  }
  const std::string port = free_port();
  const Running<SocketLines> taken(SocketLines(port), {}, first_time());
  CHECK(split_hint(error(port)).message ==
        "listening on 127.0.0.1:" + port + ": Address already in use");
  SocketOptions nobody;
  nobody.connections_max = 0;
  CHECK(error(free_port(), nobody).find("want at least 1 connection") != std::string::npos);

  Running<SocketLines> lines(SocketLines(free_port()), {}, first_time());
  const Buffer state = lines.state();
  CHECK(error_of([&] {
          Running<SocketLines>(SocketLines(free_port()), state);
        }).find("with a journal") != std::string::npos);
}
