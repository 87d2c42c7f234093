#include "topology/trees/quality.h"

using namespace piracema::coll;
using testing::measure;
using testing::ms;
using testing::Wan;

TEST_CASE("ten thousand ranks complete within 1.05 of the bound, without sites within 1.10") {
  CHECK(measure(Wan::Kind::geographic, 10'000, 100, 0.05 * ms, 1).fast.most() <= 1.05);
  CHECK(measure(Wan::Kind::flat, 10'000, 1, 0.05 * ms, 1).fast.most() <= 1.10);
}
