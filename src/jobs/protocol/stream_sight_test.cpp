#include "jobs/protocol/stream_sight.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "wire/fields.h"

using namespace piracema;
using namespace piracema::jobs;

namespace {

const Attempt seen_attempt{7, 2};

const std::string of_a_stream = R"text({"phase": "running", "at": 60.5, "now_at_unix": 1060.5,
  "bottleneck": "count holds the job back", "items_in_per_second": 100.5,
  "items_out_per_second": 90.0, "items": 5000, "read": 0.25, "queued": 12, "replicas": 5,
  "workers": 2, "snapshots": {"taken": 9, "failed": 1, "last":
    {"snapshot": 10, "at": 60.0, "bytes": 2048, "took": 0.013}},
  "failures": 2, "recoveries": 2, "items_redone": 130,
  "failure": {"noticed_at": 40.5, "snapshot": 6, "items_redone": 30, "running_after": 0.084,
    "losses": [{"at": 40.5, "who": "worker 1", "replicas": "count/0",
                "how": "killed by signal 9 (SIGKILL)", "cause": "process_ended",
                "killed_at": 40.4}, {"who": "worker 0"}]},
  "coordinator": {"host": "n1", "pid": 4711, "since_unix": 1000.5}})text";

std::string with(const std::string& old, const std::string& other) {
  std::string text = of_a_stream;
  text.replace(text.find(old), old.size(), other);
  return text;
}

}  // namespace

TEST_CASE("of a stream's own words it is known how fast it is, what it saved and what it lost") {
  const StreamSight sight = stream_sight(seen_attempt, of_a_stream);
  CHECK(sight.why.empty());
  CHECK(sight.attempt == seen_attempt);
  CHECK(sight.phase == "running");
  CHECK(sight.items_out_per_second == 90);
  CHECK(sight.read == 0.25);
  CHECK(sight.queued == 12);
  CHECK(sight.replicas == 5);
  CHECK(sight.workers == 2);
  REQUIRE(sight.snapshot);
  CHECK(sight.snapshot->number == 10);
  CHECK(sight.snapshot->age_ms == 500);
  CHECK(sight.snapshot->took_ms == 13);
  CHECK(sight.snapshot->bytes == 2048);
  CHECK(sight.failures == 2);
  REQUIRE(sight.failure);
  CHECK(sight.failure->age_ms == 20'000);
  CHECK(sight.failure->who == "worker 1");
  CHECK(sight.failure->cause == "process_ended");
  CHECK(sight.failure->others == 1);
  CHECK(sight.failure->noticed_after_ms == 100);
  CHECK(sight.failure->snapshot == 6);
  CHECK(sight.failure->running_after_ms == 84);
  REQUIRE(sight.coordinator);
  CHECK(sight.coordinator->host == "n1");
  CHECK(sight.coordinator->for_ms == 60'000);
}

TEST_CASE("a stream that has lost and saved nothing yet has no such figures") {
  const StreamSight sight =
      stream_sight(seen_attempt, R"({"phase": "gathering", "items_out_per_second": 0, "read": null,
                                "snapshots": {"last": null}, "failure": null})");
  CHECK(sight.why.empty());
  CHECK_FALSE(sight.read);
  CHECK_FALSE(sight.snapshot);
  CHECK_FALSE(sight.failure);
  CHECK_FALSE(sight.coordinator);
}

TEST_CASE("what is no stream is said so") {
  for (const std::string& text :
       {std::string(), std::string("no JSON"), std::string("[]"), std::string("{}"),
        std::string(R"({"phase": 1, "items_out_per_second": 2})"), std::string(100'000, '['),
        with("\"running\"", "\"run"), with("100.5", "1e400"), with("90.0", "\"90\"")}) {
    CAPTURE(text.substr(0, 40));
    CHECK(stream_sight(seen_attempt, text).why ==
          "what answers at the address that it shows is no stream");
  }
}

TEST_CASE("numbers that no stream has are 0, and texts are cut between letters") {
  CHECK(stream_sight(seen_attempt, with("5000", "-5")).items == 0);
  CHECK(stream_sight(seen_attempt, with("5000", "1e300")).items == 9'000'000'000'000'000);
  CHECK(stream_sight(seen_attempt, with("0.25", "17")).read == 1);
  CHECK(stream_sight(seen_attempt, with("60.5", "1")).snapshot->age_ms == 0);
  std::string letters;
  while (letters.size() < 1'000) letters += "ä";
  const StreamSight sight = stream_sight(seen_attempt, with("worker 1", letters));
  CHECK(sight.failure->who.size() == StreamSight::word_bytes_max - 2);
  const StreamSight said = bounded({.why = std::string(1'000, 'x'),
                                    .items_out_per_second = std::nan(""),
                                    .read = std::numeric_limits<double>::infinity()});
  CHECK(said.why.size() == StreamSight::text_bytes_max);
  CHECK(said.items_out_per_second == 0);
  CHECK(said.read == 0);
}

TEST_CASE("whatever a job answers, what is made of it is small") {
  std::mt19937 random(7);
  for (int i = 0; i < 3'000; ++i) {
    std::string text = of_a_stream;
    for (int changes = 0; changes < 4; ++changes) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0) {
        text[at] = static_cast<char>(random());
      } else {
        text.insert(at, text.substr(random() % text.size(), 200));
      }
    }
    CHECK(wire::encode(stream_sight(seen_attempt, text)).size() < 2'000);
  }
}
