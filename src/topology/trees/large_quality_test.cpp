#include "topology/trees/quality.h"

using namespace piracema::coll;
using piracema::coll::testing::measure;
using piracema::coll::testing::ms;
using piracema::coll::testing::Wan;

TEST_CASE("ten thousand ranks complete within 1.05 of the bound, without sites within 1.10") {
  CHECK(measure(Wan::Kind::geographic, 10'000, 100, 0.05 * ms, 1).fast.most() <= 1.05);
  CHECK(measure(Wan::Kind::flat, 10'000, 1, 0.05 * ms, 1).fast.most() <= 1.10);
}
