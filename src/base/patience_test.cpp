#include "base/patience.h"

#include <doctest/doctest.h>

#include <thread>

using namespace piracema;

namespace {

/// How often it looks for what does not come.
int looks(Patience& patience) {
  int count = 0;
  CHECK_FALSE(patience.until([&] {
    count += 1;
    return false;
  }));
  return count;
}

}  // namespace

TEST_CASE("what is there is found by one look") {
  Patience patience;
  int count = 0;
  CHECK(patience.until([&] { return ++count == 1; }));
  CHECK(count == 1);
}

TEST_CASE("who knows nothing yet sleeps at once") {
  Patience patience;
  CHECK(looks(patience) == 1);
}

TEST_CASE("who has usually found it at once looks again, but not for ever") {
  Patience patience;
  // The machine may stop us now and then; not each time.
  int most = 0;
  for (int tries = 0; tries < 100 && most < 2; ++tries) {
    for (int i = 0; i < 100; ++i) patience.until([] { return true; });
    most = looks(patience);
    if (most < 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CHECK(most >= 2);
}

TEST_CASE("who has usually slept for long sleeps at once") {
  Patience patience;
  for (int i = 0; i < 100; ++i) patience.until([] { return true; });
  for (int i = 0; i < 20; ++i) {
    looks(patience);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    patience.slept();
  }
  CHECK(looks(patience) == 1);
}
