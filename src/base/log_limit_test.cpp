#include "base/log_limit.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/fd.h"
#include "base/log_time.h"

using namespace piracema;

namespace {

/// What is written to standard error while it lives; little enough for a pipe.
class Captured {
 public:
  Captured() {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    out_ = Fd(ends[0]);
    const Fd in(ends[1]);
    before_ = Fd(::dup(STDERR_FILENO));
    REQUIRE(::dup2(in.get(), STDERR_FILENO) >= 0);
  }
  std::string end() {
    ::dup2(before_.get(), STDERR_FILENO);
    std::string text(60'000, 0);
    const ssize_t count = ::read(out_.get(), text.data(), text.size());
    text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return text;
  }

 private:
  Fd out_, before_;
};

}  // namespace

TEST_CASE("of lines without end a few are written, and how many were left out") {
  Captured captured;
  LogLimit limit;
  for (int i = 0; i < 100; ++i) limit.log(Level::warning, "again", std::chrono::seconds(50));
  limit.log(Level::warning, "later", std::chrono::seconds(60));
  const std::string text = captured.end();
  CHECK(std::count(text.begin(), text.end(), '\n') == LimitedWarnings::at_once + 1);
  CHECK(text.find("warning: later (and 80 more before it)\n") != text.npos);
}

TEST_CASE("a line begins with the time if that is asked for") {
  Captured captured;
  set_log_times(true);
  log(Level::warning, "first");
  set_log_times(false);
  log(Level::warning, "second");
  const std::string text = captured.end();
  CHECK(text.find("Z piracema: warning: first\n") == 24 - 1);
  CHECK(text.substr(4, 1) == "-");
  CHECK(text.find("\npiracema: warning: second\n") != text.npos);
}
