#include "jobs/local/job_files.h"

#include <doctest/doctest.h>

#include "base/testing.h"
#include "host/host_list.h"

using namespace piracema;
using namespace piracema::jobs;

TEST_CASE("the nodes of a job are a file of hosts, with the sites of those that have one") {
  const piracema::testing::ScratchDirectory scratch;
  const std::string file = scratch.path() + "/hosts";
  JobFiles::write_hosts(file, {{"a", "10.0.0.1", "east"}, {"b", "10.0.0.2"}}, 3);
  const auto list = cluster::read_hostfile(file);
  REQUIRE(list);
  REQUIRE(list->hosts.size() == 2);
  CHECK(list->text() == "a=10.0.0.1 (3), b=10.0.0.2 (3)");
  CHECK(list->hosts[0].site == "east");
  CHECK(list->hosts[1].site.empty());
  JobFiles::write_hosts(file, {{"b", "10.0.0.2", "west"}}, 1);
  CHECK(cluster::read_hostfile(file)->hosts.size() == 1);
}
