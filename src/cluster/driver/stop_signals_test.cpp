#include "cluster/driver/stop_signals.h"

#include <doctest/doctest.h>

namespace piracema::cluster {

using Meaning = StopSignals::Meaning;
using std::chrono::microseconds;

TEST_CASE("signals within half a second of the first one are that one, later ones end at once") {
  StopSignals signals;
  const Time begun = std::chrono::seconds(7);
  CHECK(signals.take(SIGTERM, begun) == Meaning::stop);
  CHECK(signals.take(SIGTERM, begun) == Meaning::nothing_new);
  CHECK(signals.take(SIGTERM, begun + microseconds(499'999)) == Meaning::nothing_new);
  CHECK(signals.take(SIGTERM, begun + microseconds(500'000)) == Meaning::end_at_once);
}

TEST_CASE("a job that was stopped ends by the code of the signal that asked for it") {
  StopSignals signals;
  CHECK(signals.code_of(128 + SIGTERM) == 128 + SIGTERM);
  signals.take(SIGINT, std::chrono::seconds(7));
  signals.take(SIGTERM, std::chrono::seconds(7));
  CHECK(signals.code_of(128 + SIGTERM) == 128 + SIGINT);
  CHECK(signals.code_of(75) == 75);
}

}  // namespace piracema::cluster
