#include "tools/kv/doctor.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::tools;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

ReplicaPlace good_place() {
  return {.directory = "/data",
          .room = 5'000'000'000,
          .syncs = {microseconds(300), microseconds(200), milliseconds(90)}};
}

}  // namespace

TEST_CASE("a disk that is fast as a rule is good, whatever its slowest sync took") {
  const auto all = judge(good_place());
  REQUIRE(all.size() == 2);
  for (const Finding& one : all) CHECK(one.ok);
  CHECK(all[0].text ==
        "300 us until a batch is on the disk of /data (median of 3, the longest 90 ms)");
  CHECK(all[1].text == "5.00 GB free there");
}

TEST_CASE("a slow disk, one in memory and one that is nearly full are worth knowing") {
  ReplicaPlace place = good_place();
  place.syncs = {milliseconds(30)};
  CHECK(!judge(place)[0].ok);
  CHECK(!judge(place)[0].needed);
  CHECK(judge(place)[0].text.find("want a faster disk") != std::string::npos);
  CHECK(judge(place)[0].fix == "piracema kv doctor --directory DIR");
  place = good_place();
  place.in_memory = true;
  CHECK(!judge(place)[0].ok);
  CHECK(judge(place)[0].text.find("gone with the machine") != std::string::npos);
  place = good_place();
  place.room = 999'999'999;
  CHECK(!judge(place)[1].ok);
  CHECK(!judge(place)[1].needed);
}

TEST_CASE("without a place to write to no replica runs") {
  ReplicaPlace place = good_place();
  place.trouble = "/data: No such file or directory";
  const auto all = judge(place);
  REQUIRE(all.size() == 1);
  CHECK(!all[0].ok);
  CHECK(all[0].needed);
  CHECK(all[0].text == "/data: No such file or directory");
}

TEST_CASE("a port is good where somebody listens or this host may") {
  ReplicaPlace place = good_place();
  place.ports = {{.address = "a:1", .answers = true},
                 {.address = "b:1", .is_free = true},
                 {.address = "c:1", .trouble = "no answer"}};
  const auto all = judge(place);
  REQUIRE(all.size() == 5);
  CHECK(all[2].ok);
  CHECK(all[3].ok);
  CHECK(!all[4].ok);
  CHECK(all[4].text == "c:1: no answer");
}
