#include "council/signal_line.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <random>
#include <vector>

#include "base/ensure.h"

using namespace piracema;
using namespace piracema::council;

namespace {

struct Ends {
  Fd theirs, ours;
  Ends() {
    int both[2];
    ENSURE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) == 0);
    theirs = Fd(both[0]);
    ours = Fd(both[1]);
  }
  void say(std::string_view text) const {
    ENSURE(::write(theirs.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
};

/// What has come, for whoever waits for it.
struct Heard {
  std::mutex mutex;
  std::condition_variable news;
  std::vector<std::uint64_t> ids;

  void take(const Signalled& signalled) {
    const std::lock_guard lock(mutex);
    ids.push_back(signalled.id);
    news.notify_all();
  }
  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    news.wait(lock, [&] { return ids.size() >= count; });
  }
};

}  // namespace

TEST_CASE("a signal is the same one on the other side, and other lines are none") {
  std::string line = signal_line({15, 4'711});
  REQUIRE(line.back() == '\n');
  line.pop_back();
  const auto found = signal_of(line);
  REQUIRE(found);
  CHECK(found->number == 15);
  CHECK(found->id == 4'711);
  for (const char* other : {"", "signal ", "signal 15", "signal 15 x", "signal 15 1 2", "15 1",
                            "signal 99999999999999999999 1"}) {
    CAPTURE(other);
    CHECK_FALSE(signal_of(other));
  }
}

TEST_CASE("signals are heard in whatever pieces they come, and between other things") {
  Ends ends;
  Heard heard;
  SignalLine line(std::move(ends.ours), [&](const Signalled& one) { heard.take(one); });
  ends.say("sig");
  ends.say("nal 2 1\nnonsense\nsignal 15 2\n");
  ends.say(std::string(1'000, 'x'));
  ends.say("\nsignal 2 3\n");
  heard.wait_for(3);
  CHECK(heard.ids == std::vector<std::uint64_t>{1, 2, 3});
}

TEST_CASE("random bytes are no signal and end nothing") {
  Ends ends;
  Heard heard;
  SignalLine line(std::move(ends.ours), [&](const Signalled& one) { heard.take(one); });
  std::mt19937_64 random(1);
  std::string bytes(5'000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  ends.say(bytes);
  ends.say("\nsignal 15 7\n");
  heard.wait_for(1);
  CHECK(heard.ids == std::vector<std::uint64_t>{7});
}

TEST_CASE("a line whose other side is gone says nothing more, and can be ended") {
  Ends ends;
  Heard heard;
  SignalLine line(std::move(ends.ours), [&](const Signalled& one) { heard.take(one); });
  ends.say("signal 15 1\n");
  ends.theirs.close();
  heard.wait_for(1);
}
