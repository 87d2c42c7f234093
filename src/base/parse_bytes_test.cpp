#include "base/parse_bytes.h"

#include <doctest/doctest.h>

using namespace piracema;

TEST_CASE("a size is a number and a unit of thousands or of 1,024s") {
  CHECK(*parse_bytes("4096") == 4'096);
  CHECK(*parse_bytes("10B") == 10);
  CHECK(*parse_bytes("64MB") == 64'000'000);
  CHECK(*parse_bytes("2KiB") == 2'048);
  CHECK(*parse_bytes("1.5GiB") == 3 * (std::uint64_t{1} << 29));
}

TEST_CASE("what is no size, or none at all, is an error with what was found") {
  for (const char* text : {"", "0", "-5", "MB", "5 MB", "5mb", "5MBs", "1e30", "nan"}) {
    const auto bytes = parse_bytes(text);
    REQUIRE_FALSE(bytes);
    CHECK(bytes.error().message.find("want a size") == 0);
  }
}
