// Would the simulator find a mistake? Mistakes are planted in the code, one at a time, and each has
// to be found within its number of seeds. docs/design/007-proof-of-replication.md has the table.
#include <doctest/doctest.h>

#include "sim/smr/hunt.h"

namespace piracema::smr_sim {

TEST_CASE("every planted mistake is found within its number of seeds") {
  for (const Trail& trail : hunt_all(planted_mistakes())) {
    INFO(trail.mistake->name, " within ", trail.mistake->seeds, " seeds: ", trail.told);
    CHECK(trail.found);
  }
}

}  // namespace piracema::smr_sim
