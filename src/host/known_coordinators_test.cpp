#include "host/known_coordinators.h"

#include <doctest/doctest.h>

#include "base/testing.h"
#include "host/coordinator_file.h"

using namespace piracema;
using namespace piracema::cluster;

namespace {
using Addresses = std::vector<std::string>;
const std::string token(32, 'a');
}  // namespace

TEST_CASE("the last that was heard of coordinators counts, and nonsense is not heard") {
  KnownCoordinators known(token, {"10.0.0.1:1", "10.0.0.2:2"});
  CHECK(known.find() == Addresses{"10.0.0.1:1", "10.0.0.2:2"});
  known.told({"10.0.0.1:1", "10.0.0.3:3"});
  CHECK(known.find() == Addresses{"10.0.0.1:1", "10.0.0.3:3"});
  known.told({});
  known.told({"nowhere", ""});
  CHECK(known.find() == Addresses{"10.0.0.1:1", "10.0.0.3:3"});
  known.told(Addresses(1'000, "10.0.0.4:4"));
  CHECK(known.find().size() == 64);
}

TEST_CASE("a file that is seen counts more, and says when the job is over") {
  const testing::ScratchDirectory scratch;
  const std::string file = coordinator_file(scratch.path());
  KnownCoordinators known(token, {"10.0.0.1:1"});
  known.look_in(file);
  CHECK(known.find() == Addresses{"10.0.0.1:1"});
  REQUIRE(write_coordinator_file(file, token, {"10.0.0.5:5"}).ok());
  known.told({"10.0.0.6:6"});
  CHECK(known.find() == Addresses{"10.0.0.5:5"});
  REQUIRE(close_coordinator_file(file, 0).ok());
  CHECK(known.find().empty());
}
