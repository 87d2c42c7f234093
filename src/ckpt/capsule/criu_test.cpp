#include "ckpt/capsule/criu.h"

#include <doctest/doctest.h>

namespace piracema::ckpt {

TEST_CASE("a version is read from what criu prints") {
  CHECK(*parse_criu_version("Version: 4.2.1\nGitID: v4.2.1\n") == CriuVersion{4, 2});
  CHECK(*parse_criu_version("Warn ...\nVersion: 3.17.1\n") == CriuVersion{3, 17});
  CHECK_FALSE(parse_criu_version("criu: not found").has_value());
  CHECK_FALSE(parse_criu_version("Version: new").has_value());
}

TEST_CASE("versions are ordered by number, not by text") {
  CHECK(CriuVersion{4, 10} > CriuVersion{4, 2});
  CHECK(CriuVersion{3, 17} < criu_version_least);
  CHECK_FALSE(CriuVersion{4, 2} < criu_version_least);
}

}  // namespace piracema::ckpt
