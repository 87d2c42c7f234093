#include "cluster/driver/stop_signals.h"

#include <doctest/doctest.h>

namespace piracema::cluster {

using Meaning = StopSignals::Meaning;
using std::chrono::microseconds;

TEST_CASE("signals within half a second of the first one are that one, later ones end at once") {
  StopSignals signals;
  const Time begun = std::chrono::seconds(7);
  CHECK(signals.take(begun) == Meaning::stop);
  CHECK(signals.take(begun) == Meaning::nothing_new);
  CHECK(signals.take(begun + microseconds(499'999)) == Meaning::nothing_new);
  CHECK(signals.take(begun + microseconds(500'000)) == Meaning::end_at_once);
}

}  // namespace piracema::cluster
