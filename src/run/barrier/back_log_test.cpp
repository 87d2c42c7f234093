#include "run/barrier/back_log.h"

#include <doctest/doctest.h>

#include "run/barrier/testing.h"

using namespace piracema;
using namespace piracema::runtime;
using namespace piracema::runtime::testing;

namespace {

// The values in the log of a part whose state is `some_state`.
std::vector<std::uint64_t> logged(const BackLog::Part& part) {
  return logged_values(Bytes(part.bytes).subspan(some_state().size()));
}

}  // namespace

TEST_CASE("what comes between the cut and the barrier is logged, and nothing before or after") {
  BackLog log(1);
  log.on_batch(0, 7, batch_with(1));
  log.cut(4, some_state());
  log.on_batch(0, 7, batch_with(2));
  CHECK_FALSE(log.take());
  log.on_barrier(0, 4);
  log.on_batch(0, 7, batch_with(3));
  const auto part = log.take();
  REQUIRE(part);
  CHECK(part->snapshot == 4);
  CHECK(logged(*part) == std::vector<std::uint64_t>{2});
}

TEST_CASE("a part waits for the barrier of every back edge that has not ended") {
  BackLog log(3);
  log.on_end(2);
  log.cut(1, some_state());
  log.on_barrier(0, 1);
  CHECK_FALSE(log.take());
  log.on_end(1);
  CHECK(log.take());
}

TEST_CASE("a batch that was under way at two cuts is in both logs") {
  BackLog log(1);
  log.cut(1, some_state());
  log.cut(2, some_state());
  log.on_batch(0, 7, batch_with(5));
  log.on_barrier(0, 1);
  log.on_batch(0, 7, batch_with(6));
  log.on_barrier(0, 2);
  CHECK(logged(*log.take()) == std::vector<std::uint64_t>{5});
  CHECK(logged(*log.take()) == std::vector<std::uint64_t>{5, 6});
}

TEST_CASE("a barrier that comes round before the cut holds its input until then") {
  BackLog log(2);
  log.on_barrier(0, 1);
  CHECK(log.is_blocked(0));
  CHECK_FALSE(log.is_blocked(1));
  log.cut(1, some_state());
  CHECK_FALSE(log.is_blocked(0));
  log.on_batch(1, 7, batch_with(5));
  log.on_barrier(1, 1);
  CHECK(logged(*log.take()) == std::vector<std::uint64_t>{5});
}

TEST_CASE("a barrier that comes round closes what was given up before it") {
  BackLog log(1);
  log.cut(1, some_state());
  log.cut(3, some_state());
  log.on_barrier(0, 3);
  CHECK(log.take()->snapshot == 1);
  CHECK(log.take()->snapshot == 3);
}

TEST_CASE("bytes that are no log are an error") {
  wire::Reader reader(as_bytes("no log at all"));
  CHECK_FALSE(BatchLog::read(reader));
}
