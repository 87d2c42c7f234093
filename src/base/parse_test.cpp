#include "base/parse.h"

#include <doctest/doctest.h>

using namespace piracema;
using std::chrono::milliseconds;

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

TEST_CASE("a time has a unit") {
  CHECK(*parse_duration("250ms") == milliseconds(250));
  CHECK(*parse_duration("1s") == milliseconds(1'000));
  CHECK(*parse_duration("1.5s") == milliseconds(1'500));
  CHECK(*parse_duration("2m") == milliseconds(120'000));
  CHECK(*parse_duration("1h") == milliseconds(3'600'000));

  for (const char* wrong : {"", "1", "s", "0s", "-1s", "1x", "1 s", "nans", "1e9h", "9999999h"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_duration(wrong).ok());
  }
  CHECK(parse_duration("soon").error().message.find("found 'soon'") != std::string::npos);
}
