#include "control/detector/failure_detector.h"

#include <doctest/doctest.h>

#include "base/random.h"

namespace piracema::cluster {

namespace {

JobSettings settings() {
  JobSettings settings;
  settings.slots = 2;
  return settings;
}

constexpr Time at(int ms) { return milliseconds(ms); }

}  // namespace

TEST_CASE("of many deadlines the first is known, whichever were set and taken back") {
  Random random(7);
  Deadlines deadlines;
  std::vector<std::optional<Time>> all(20);
  deadlines.resize(all.size());
  for (int i = 0; i < 2'000; ++i) {
    const auto slot = static_cast<Slot>(random.below(all.size()));
    const bool is_none = random.below(3) == 0;
    all[slot] = is_none ? std::nullopt : std::optional(Time(random.below(50)));
    deadlines.set(slot, all[slot]);
    CHECK(deadlines.of(slot) == all[slot]);
    std::optional<Time> first;
    for (const auto& time : all) {
      if (time && (!first || *time < *first)) first = time;
    }
    CHECK(deadlines.first() == first);
  }
}

TEST_CASE("a process is expected to join, then to be heard of, and nothing once it is forgotten") {
  const JobSettings with = settings();
  FailureDetector detector(with);
  CHECK_FALSE(detector.next_deadline(false));
  detector.started(0, at(0));
  CHECK(detector.next_deadline(false) == at(30'000));
  CHECK_FALSE(detector.expired(0, at(29'999), false));
  CHECK(detector.expired(0, at(30'000), false)->how == "it did not join within 30000 ms");
  detector.heard(0, at(100));
  CHECK_FALSE(detector.expired(0, at(1'349), false));
  const auto silent = detector.expired(0, at(1'350), false);
  REQUIRE(silent);
  CHECK(silent->how == "no heartbeat for 1250 ms");
  CHECK(silent->cause == LossCause::silent);
  detector.forget(0);
  CHECK_FALSE(detector.expired(0, at(100'000), false));
}

TEST_CASE("a proposal changes nothing: until something is done about it, it is made again") {
  const JobSettings with = settings();
  FailureDetector detector(with);
  detector.heard(1, at(0));
  CHECK(detector.expired(1, at(2'000), false));
  CHECK(detector.expired(1, at(2'000), false));
  detector.heard(1, at(2'000));
  CHECK_FALSE(detector.expired(1, at(2'000), false));
}

TEST_CASE("who was there before its coordinator has to come back in time") {
  const JobSettings with = settings();
  FailureDetector detector(with);
  detector.detached(0, at(0));
  CHECK(detector.next_deadline(false) == at(2'000));
  CHECK(detector.expired(0, at(2'000), false)->how ==
        "it did not come back within 2000 ms to a new coordinator");
}

TEST_CASE("who gets on with loading its state has all of its time again") {
  const JobSettings with = settings();
  FailureDetector detector(with);
  detector.started(0, at(0));
  detector.heard(0, at(0));
  detector.deployed(0, at(0), 0);
  for (int ms = 0; ms <= 60'000; ms += 1'000) {
    detector.heard(0, at(ms));
    detector.restores(0, at(ms), static_cast<std::uint64_t>(ms / 20'000), false);
    CHECK_FALSE(detector.expired(0, at(ms), true));
  }
  detector.heard(0, at(90'000));
  CHECK_FALSE(detector.expired(0, at(89'999), true));
  CHECK(detector.expired(0, at(90'000), true)->how ==
        "it did not get on with loading its state for 30000 ms");
  detector.ready(0);
  CHECK_FALSE(detector.expired(0, at(90'000), true));
}

TEST_CASE("a coordinator that did not run forgives once between two signs of life") {
  const JobSettings with = settings();
  FailureDetector detector(with);
  detector.heard(0, at(0));
  const Time silent_at = *detector.next_deadline(false);
  detector.forgive(at(6'000), at(1'000));
  // And time for one more heartbeat, which could not come meanwhile.
  CHECK(detector.next_deadline(false) == silent_at + at(5'000) + with.heartbeat_interval);
  detector.forgive(at(12'000), at(7'000));
  CHECK(detector.next_deadline(false) == silent_at + at(5'000) + with.heartbeat_interval);
  detector.heard(0, at(12'000));
  detector.forgive(at(20'000), at(13'000));
  CHECK(detector.next_deadline(false) > at(20'000));
}

TEST_CASE("a step that is a little late, or had no deadline, forgives nothing") {
  const JobSettings with = settings();
  FailureDetector detector(with);
  detector.heard(0, at(0));
  const auto silent_at = detector.next_deadline(false);
  detector.forgive(at(1'300), at(1'000));
  detector.forgive(at(60'000), std::nullopt);
  CHECK(detector.next_deadline(false) == silent_at);
}

TEST_CASE("where processes cannot be replaced none is taken for lost") {
  JobSettings with = settings();
  with.can_spawn = false;
  FailureDetector detector(with);
  detector.started(0, at(0));
  detector.heard(0, at(0));
  detector.deployed(0, at(0), 0);
  CHECK_FALSE(detector.next_deadline(true));
  CHECK_FALSE(detector.expired(0, at(1'000'000), true));
}

}  // namespace piracema::cluster
