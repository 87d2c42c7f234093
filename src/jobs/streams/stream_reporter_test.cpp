#include "jobs/streams/stream_reporter.h"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "base/text.h"

using namespace piracema;
using namespace piracema::jobs;
using std::chrono::milliseconds;

namespace {

const Attempt only_attempt{7, 1};
const std::string right_page =
    R"({"phase": "running", "items_out_per_second": 42, "items_in_per_second": 43})";

std::string http(const std::string& body, const char* code = "200") {
  return concat("HTTP/1.1 ", code, " OK\r\nConnection: close\r\n\r\n", body);
}

/// A page on loopback that says the same to all, whatever they ask.
class Page {
 public:
  Page(net::Poller& poller, std::string answer, bool hangs_up = true)
      : poller_(poller),
        answer_(std::move(answer)),
        hangs_up_(hangs_up),
        listener_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::bind(listener_.get(), any, size) == 0);
    REQUIRE(::listen(listener_.get(), 16) == 0);
    REQUIRE(::getsockname(listener_.get(), any, &size) == 0);
    port = ntohs(address.sin_port);
    poller_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept(); });
  }
  ~Page() {
    poller_.forget(listener_.get());
    for (auto& [handle, guest] : guests_) poller_.forget(handle);
  }

  std::uint16_t port = 0;
  std::string asked;

 private:
  void accept() {
    Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    const int handle = socket.get();
    guests_[handle] = std::move(socket);
    poller_.watch(handle, EPOLLIN, [this, handle](std::uint32_t) {
      char bytes[4'096];
      const ssize_t count = ::recv(handle, bytes, sizeof bytes, 0);
      if (count > 0) asked.append(bytes, static_cast<std::size_t>(count));
      poller_.forget(handle);
      (void)::send(handle, answer_.data(), answer_.size(), MSG_NOSIGNAL);
      if (hangs_up_) guests_.erase(handle);
    });
  }

  net::Poller& poller_;
  const std::string answer_;
  const bool hangs_up_;
  Fd listener_;
  std::map<int, Fd> guests_;
};

/// A node with one job, and what the control plane is told.
struct Machine {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / concat("stream_reporter_test.", ::getpid());
  net::Poller poller;
  JobFiles files{folder.string()};
  std::vector<TellStreams> told;
  std::unique_ptr<StreamReporter> reporter = std::make_unique<StreamReporter>(
      poller, files, StreamReporter::Node{"a", 4711},
      [this](const TellStreams& tell, const std::function<void(Result<Answer>)>& done) {
        told.push_back(tell);
        done(Answer{.mark = 1});
      });

  Machine() { std::filesystem::create_directories(files.place_of(only_attempt.job)); }
  ~Machine() { std::filesystem::remove_all(folder); }
  void show(std::uint16_t port) const {
    std::ofstream(files.address_file_of(only_attempt))
        << "http://127.0.0.1:" << port << "/?token=abc\n";
  }
  /// What is told of the job next.
  StreamSight next() {
    const std::size_t before = told.size();
    const Time until = now() + std::chrono::seconds(30);
    while (told.size() == before && now() < until) poller.run_once(milliseconds(100));
    REQUIRE(told.size() > before);
    REQUIRE(told.back().sights.size() == 1);
    return told.back().sights.front();
  }
};

}  // namespace

TEST_CASE("a stream is asked at its own page, with its token, and what it says is told") {
  Machine node;
  Page page(node.poller, http(right_page));
  node.show(page.port);
  node.reporter->began(only_attempt, ::geteuid());
  const StreamSight sight = node.next();
  CHECK(sight.why.empty());
  CHECK(sight.items_out_per_second == 42);
  CHECK(node.told.back().node == "a");
  CHECK(node.told.back().incarnation == 4711);
  CHECK(page.asked == concat("GET /api/v1/job HTTP/1.1\r\nHost: 127.0.0.1:", page.port,
                             "\r\nConnection: close\r\nAuthorization: Bearer abc\r\n\r\n"));
  // Again, without a word from anybody.
  CHECK(node.next().items_out_per_second == 42);
}

TEST_CASE("a job that shows no stream is told of as one that does not") {
  Machine node;
  node.reporter->began(only_attempt, ::geteuid());
  CHECK(node.next().why == shows_no_stream);
}

TEST_CASE("whatever is at the address, the node goes on and says what is wrong") {
  Machine node;
  const auto why_with = [&](std::string answer, bool hangs_up = true) {
    Page page(node.poller, std::move(answer), hangs_up);
    node.show(page.port);
    node.reporter->began(only_attempt, ::geteuid());
    const StreamSight sight = node.next();
    node.reporter->ended(only_attempt);
    return sight.why;
  };
  CHECK(why_with("SSH-2.0\r\n") == "what is where it shows itself does not speak HTTP");
  CHECK(why_with("") == "what is where it shows itself does not speak HTTP");
  CHECK(why_with("HTTP/1.1\r\n\r\n") == "what is where it shows itself does not speak HTTP");
  CHECK(why_with(http("", "401")) == "it answers with the code 401");
  CHECK(why_with(http("hello")) == "what answers at the address that it shows is no stream");
  CHECK(why_with(http(right_page), false) == "it has not answered within 2 s");
  // Nobody listens there any more.
  node.reporter->began(only_attempt, ::geteuid());
  CHECK(node.next().why.starts_with("nobody is where it shows itself"));
}

TEST_CASE("an answer without an end is not taken for long") {
  Machine node;
  Page page(node.poller, http(std::string(StreamGlance::bytes_max + 1, ' ')));
  node.show(page.port);
  node.reporter->began(only_attempt, ::geteuid());
  const std::string why = node.next().why;
  // How much of it was sent before the page hung up is the system's matter.
  const bool is_said = why == "it answers with more than 262144 bytes" ||
                       why == "what answers at the address that it shows is no stream";
  CHECK(is_said);
}

TEST_CASE("a node that ends while a stream has yet to answer waits for nothing") {
  Machine node;
  Page page(node.poller, "", false);
  node.show(page.port);
  node.reporter->began(only_attempt, ::geteuid());
  const Time until = now() + std::chrono::seconds(30);
  while (page.asked.empty() && now() < until) node.poller.run_once(milliseconds(100));
  REQUIRE_FALSE(page.asked.empty());
  node.reporter.reset();
  node.poller.run_once(milliseconds(0));
  CHECK(node.told.empty());
}
