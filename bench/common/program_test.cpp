#include "bench/common/program.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>

#include "bench/common/sockets.h"

using namespace piracema;
using namespace piracema::bench;

TEST_CASE("what several processes print is one span, from the first start to the last end") {
  const char* lines = "start 2.5\\nend 4.0 items 3\\nstart 2.0\\nend 3.0 items 4\\n";
  const auto sample = run_marked({"printf", lines}, 7);
  REQUIRE_MESSAGE(sample.ok(), sample.error().message);
  CHECK(sample->wall_s == doctest::Approx(2.0));
  CHECK_FALSE(run_marked({"printf", lines}, 8).ok());
  CHECK_FALSE(run_marked({"printf", "start 2.5\\n"}, 0).ok());
}

TEST_CASE("seconds that a program prints count, and nothing else does in their place") {
  const auto sample = run_timed({"printf", "1.25\\n"});
  REQUIRE(sample.ok());
  CHECK(sample->wall_s == doctest::Approx(1.25));
  CHECK_FALSE(run_timed({"printf", "soon\\n"}).ok());
  CHECK_FALSE(run_timed({"false"}).ok());
}

TEST_CASE("two processes are measured together, and either of them can spoil it") {
  const auto [near, far] = tcp_pair();
  const auto say = [&near = near] { send_all(near.get(), "hello", 5); };
  const auto hear = [&far = far] {
    char room[5];
    return ::read(far.get(), room, sizeof room) == 5 && std::memcmp(room, "hello", 5) == 0;
  };
  CHECK(two_processes(say, hear).ok());
  CHECK_FALSE(two_processes(say, [&] { return !hear(); }).ok());
  CHECK_FALSE(two_processes([] { ::_exit(1); }, [] { return true; }).ok());
}
