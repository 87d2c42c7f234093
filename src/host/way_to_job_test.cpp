#include "host/way_to_job.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <random>

#include "base/testing.h"
#include "net/session/handshake.h"

using namespace piracema;
using namespace piracema::cluster;

TEST_CASE("what an agent leaves of the way to a job is found, and nobody else can look there") {
  const testing::ScratchDirectory folder;
  const std::string file = folder.path() + "/of-job/way";
  const WayToJob way{net::draw_token(), {"10.0.0.1:7000", "[::1]:7001"}};
  REQUIRE(write_way_to_job(file, way));
  CHECK(read_way_to_job(file) == way);
  struct stat status {};
  REQUIRE(::stat((folder.path() + "/of-job").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("another thing is no way to a job") {
  const testing::ScratchDirectory folder;
  const std::string file = folder.path() + "/way";
  CHECK_FALSE(read_way_to_job(file));
  for (const std::string& text : {std::string(), std::string("no key\n10.0.0.1:1\n"),
                                  net::draw_token() + "\nnowhere\n", net::draw_token()}) {
    std::ofstream(file, std::ios::trunc) << text;
    CHECK_FALSE(read_way_to_job(file));
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    std::string any(random() % 500, '\0');
    for (char& byte : any) byte = static_cast<char>(random());
    std::ofstream(file, std::ios::trunc | std::ios::binary) << any;
    CHECK_FALSE(read_way_to_job(file));
  }
}

TEST_CASE("a folder that is not there is an error with its name") {
  const auto written = write_way_to_job("/nowhere/of-job/way", {net::draw_token(), {"10.0.0.1:1"}});
  REQUIRE_FALSE(written);
  CHECK(written.error().message.find("/nowhere/of-job") != std::string::npos);
}
