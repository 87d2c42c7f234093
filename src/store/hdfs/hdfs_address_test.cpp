#include "store/hdfs/hdfs_address.h"

#include <doctest/doctest.h>

#include "base/testing.h"

using namespace piracema;
using namespace piracema::store;
using testing::contains;

TEST_CASE("an address names a name node and a directory") {
  const auto address = HdfsAddress::parse("webhdfs://namenode.example:9000/user/ana/job-1/");
  REQUIRE(address);
  CHECK(address->host == "namenode.example");
  CHECK(address->port == 9'000);
  CHECK(address->path == "user/ana/job-1");
  CHECK(address->endpoint() == "http://namenode.example:9000");
  CHECK(address->text() == "webhdfs://namenode.example:9000/user/ana/job-1");
  CHECK(HdfsAddress::parse("webhdfs://10.0.0.1/a")->endpoint() == "http://10.0.0.1:9870");
  CHECK(HdfsAddress::parse("swebhdfs://nn/a")->endpoint() == "https://nn:9871");
}

TEST_CASE("what is no address is refused with what is wanted") {
  for (const char* text :
       {"hdfs://nn/a", "webhdfs://", "webhdfs://nn", "webhdfs://nn/", "webhdfs:///a",
        "webhdfs://nn:0/a", "webhdfs://nn:70000/a", "webhdfs://nn:x/a", "webhdfs://n n/a",
        "webhdfs://ana@nn/a", "webhdfs://nn/a//b", "webhdfs://nn/../a", "webhdfs://nn/a?op=DELETE",
        "webhdfs://nn/a#b", "webhdfs://nn/\xc3\xa4"}) {
    CAPTURE(text);
    const auto address = HdfsAddress::parse(text);
    REQUIRE_FALSE(address);
    CHECK(address.error().code == Errc::config);
    CHECK(contains(address.error().message, "want webhdfs://HOST:PORT/PATH"));
  }
}
