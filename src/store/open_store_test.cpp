#include "store/open_store.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "base/testing.h"

using namespace piracema;
using namespace piracema::store;
using namespace piracema::testing;

TEST_CASE(
    "the address of a store that there is none of is refused, and no directory is made for it") {
  const ScratchDirectory scratch;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path());
  for (const std::string address :
       {"S3://bucket/job", "ftp://node:8020/job", "git+ssh-1.0://x", "file:///tmp"}) {
    CAPTURE(address);
    // Also where the first directory of such a path happens to be there.
    const std::string first = address.substr(0, address.find('/'));
    std::filesystem::create_directory(first);
    for (const bool create : {true, false}) {
      const auto refused = open_store(address, create);
      REQUIRE_FALSE(refused);
      CHECK(refused.error().code == Errc::config);
      CHECK(refused.error().message ==
            "want a directory of snapshots, s3://BUCKET/PREFIX or webhdfs://HOST:PORT/PATH, found "
            "the address \"" +
                address + "\"; ./" + address + " is the directory of that name");
    }
    CHECK(std::filesystem::is_empty(first));
  }
  std::filesystem::create_directory("s3:");
  // What only looks a little like one is a name like any other, and so is one that begins with ./.
  for (const std::string name : {"s3:/job", "./s3://job2", "3s://", "a b://", ":://"}) {
    CAPTURE(name);
    const auto opened = open_store(name, true);
    REQUIRE(opened);
    CHECK((*opened)->directory() != nullptr);
  }
  std::filesystem::current_path(before);
}

TEST_CASE("an address of HDFS that is not that of its web server says which is") {
  for (const std::string address : {"hdfs://node:8020/job", "webhdfs://node:9870"}) {
    const auto refused = open_store(address, true);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::config);
    CHECK(contains(refused.error().message, "want webhdfs://HOST:PORT/PATH"));
    CHECK(contains(refused.error().message, address));
  }
}

TEST_CASE("a bucket without the keys to it is refused with the variable that is missing") {
  for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}) ::unsetenv(name);
  const auto refused = open_store("s3://bucket/job", true);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::config);
  CHECK(contains(refused.error().message, "AWS_ACCESS_KEY_ID"));
}
