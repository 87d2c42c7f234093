#include "store/snapshot/savepoint.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "base/text.h"

namespace piracema::store {

TEST_CASE("a savepoint reads back by its own name only") {
  const std::string text = encode_savepoint("v1.2", 7);
  CHECK(*decode_savepoint("f", "v1.2", as_bytes(text)) == 7);
  CHECK(decode_savepoint("f", "v1.3", as_bytes(text)).error().code == Errc::corrupt);
  CHECK(decode_savepoint("f", "v1.2", as_bytes("piracema savepoint 2: anything")).error().code ==
        Errc::refused);
}

TEST_CASE("a savepoint with a flipped bit, or cut, names its file") {
  const std::string text = encode_savepoint("v1", 70);
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string other = text;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << (bit % 8)));
    const auto read = decode_savepoint("f", "v1", as_bytes(other));
    REQUIRE_FALSE(read);
    CHECK(read.error().message.starts_with("f: "));
  }
  for (std::size_t length = 0; length < text.size(); ++length) {
    CHECK_FALSE(decode_savepoint("f", "v1", as_bytes(text.substr(0, length))));
  }
}

TEST_CASE("a name is a plain file name") {
  for (const std::string name : {"v1", "before-tuesday", "2026-11-25_1.2", "7"}) {
    CHECK(check_savepoint_name(name));
  }
  for (const std::string& name :
       {std::string(), std::string("."), std::string("../x"), std::string("a/b"), std::string("-x"),
        std::string("a b"), std::string("x.tmp-1-2"), std::string(65, 'a'),
        std::string("a\0b", 3)}) {
    CHECK(check_savepoint_name(name).error().code == Errc::config);
  }
}

TEST_CASE("what a server still writes has a name of its own") {
  CHECK(ends_in_uuid("n4-19389a45-2227-420b-893e-96cbed9fe76f"));
  for (const char* name :
       {"n4", "", "19389a45-2227-420b-893e-96cbed9fe76f", "n4-19389a45-2227-420b-893e-96cbed9fe76",
        "n4-19389a45-2227-420b-893ex96cbed9fe76f", "n4-19389a45-2227-420b-893e-96cbed9fe76g"}) {
    CHECK_FALSE(ends_in_uuid(name));
  }
}

}  // namespace piracema::store
