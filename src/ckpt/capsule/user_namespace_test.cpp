#include "ckpt/capsule/user_namespace.h"

#include <doctest/doctest.h>

namespace piracema::ckpt {

TEST_CASE("a switch that keeps ordinary users from capsules is named, with what mends it") {
  CHECK(advice_of({.clone = 0, .most = 100}).find("kernel.unprivileged_userns_clone=1") !=
        std::string::npos);
  CHECK(advice_of({.most = 0}).find("user.max_user_namespaces=15000") != std::string::npos);
  CHECK(advice_of({.clone = 1, .most = 100, .apparmor = 1})
            .find("kernel.apparmor_restrict_unprivileged_userns=0") != std::string::npos);
}

TEST_CASE("switches that allow capsules, or that a kernel does not have, are not named") {
  CHECK(advice_of({}).empty());
  CHECK(advice_of({.clone = 1, .most = 96365, .apparmor = 0}).empty());
}

TEST_CASE("root is advised nothing") { CHECK(namespace_advice(std::nullopt).empty()); }

}  // namespace piracema::ckpt
