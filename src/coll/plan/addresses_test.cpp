#include "coll/plan/addresses.h"

#include <doctest/doctest.h>

#include "coll/plan/waiting.h"

using namespace piracema::coll;

namespace {

constexpr std::uint32_t ip(unsigned a, unsigned b, unsigned c, unsigned d) {
  return a << 24 | b << 16 | c << 8 | d;
}
constexpr std::uint32_t mask24 = 0xffffff00, mask16 = 0xffff0000;
constexpr HostAddress docker{ip(172, 17, 0, 1), mask16}, libvirt{ip(192, 168, 122, 1), mask24};

/// A host's kernel: the network that an address is in, else the default route.
Route routes(std::vector<HostAddress> own, std::uint32_t otherwise) {
  return [=](std::uint32_t to) {
    for (const HostAddress& one : own) {
      if (((to ^ one.address) & one.mask) == 0) return one.address;
    }
    return otherwise;
  };
}

}  // namespace

TEST_CASE("bridges that every host has alike are not chosen, though they come first") {
  const HostAddress a{ip(10, 0, 0, 1), mask24}, b{ip(10, 0, 0, 2), mask24};
  const std::vector<HostAddress> own{docker, libvirt, a};
  CHECK(choose_address(own, {{docker, libvirt, b}}, routes(own, 0)) == a.address);
  CHECK(choose_address(own, {{b}}, routes(own, 0)) == a.address);
  // The other end has the bridge at another number, in the same network.
  const HostAddress bridge{ip(172, 17, 0, 2), mask16};
  const HostAddress c{ip(10, 0, 0, 3), mask24};
  CHECK(choose_address(own, {{bridge, b}, {docker, c}}, routes(own, 0)) == a.address);
}

TEST_CASE("hosts in other networks are reached from where the default route goes") {
  const HostAddress site{ip(10, 1, 0, 1), mask24}, storage{ip(10, 9, 0, 1), mask24};
  const std::vector<HostAddress> own{docker, storage, site};
  const std::vector<std::vector<HostAddress>> others{{docker, {ip(10, 2, 0, 1), mask24}},
                                                     {docker, {ip(10, 3, 0, 1), mask24}}};
  CHECK(choose_address(own, others, routes(own, site.address)) == site.address);
}

TEST_CASE(
    "of two networks that both reach all, the one that is listed first is chosen everywhere") {
  const std::vector<HostAddress> own{{ip(10, 0, 0, 1), mask24}, {ip(10, 5, 0, 1), mask24}};
  const std::vector<HostAddress> other{{ip(10, 0, 0, 2), mask24}, {ip(10, 5, 0, 2), mask24}};
  CHECK(choose_address(own, {other}, routes(own, 0)) == ip(10, 0, 0, 1));
  CHECK(choose_address(other, {own}, routes(other, 0)) == ip(10, 0, 0, 2));
}

TEST_CASE("nothing that routes to anybody is no address") {
  const std::vector<HostAddress> own{docker};
  CHECK_FALSE(choose_address(own, {{docker}}, routes(own, 0)));
  CHECK_FALSE(choose_address({}, {{docker}}, routes({}, 0)));
  CHECK_FALSE(choose_address(own, {}, routes(own, 0)));
}

TEST_CASE("ranks yield at once where there are more of them than cores, as MPI libraries do") {
  CHECK(Waiting{3, 2}.polls_before_yield() == 0);
  CHECK(Waiting{2, 2}.polls_before_yield() > 0);
}
