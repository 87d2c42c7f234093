#include "base/log_limit.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "base/captured_log.h"

using namespace piracema;

TEST_CASE("of lines without end a few are written, and how many were left out") {
  CapturedLog captured;
  LogLimit limit;
  for (int i = 0; i < 100; ++i) limit.log(Level::warning, "again", std::chrono::seconds(50));
  limit.log(Level::warning, "later", std::chrono::seconds(60));
  const std::string text = captured.end();
  CHECK(std::count(text.begin(), text.end(), '\n') == LimitedWarnings::at_once + 1);
  CHECK(text.find("warning: later (and 80 more before it)\n") != text.npos);
}
