#include "flow/nearness.h"

#include <doctest/doctest.h>

using piracema::flow::Location;
using piracema::flow::Nearness;

TEST_CASE("an item saves most in its process, then on its host, then on its site") {
  const Nearness nearness({{0, 0}, {0, 0}, {1, 0}, {2, 1}}, 4);
  CHECK(nearness.between(0, 0) == 100);
  CHECK(nearness.between(0, 1) == 99);
  CHECK(nearness.between(0, 2) == 90);
  CHECK(nearness.between(0, 3) == 0);
}

TEST_CASE("on one site, and on one host, what is left to save is less") {
  CHECK(Nearness({{0, 7}, {1, 7}}, 2).between(0, 0) == 10);
  CHECK(Nearness({{3, 7}, {3, 7}}, 2).between(0, 0) == 1);
  CHECK(Nearness({{3, 7}, {3, 7}}, 2).between(0, 1) == 0);
  CHECK(Nearness({{3, 7}}, 1).levels().empty());
}

TEST_CASE("a process of which nothing is known is far from all others") {
  const Nearness nearness({{0, 0}, {0, 0}, {1, 1}}, 5);
  CHECK(nearness.between(0, 1) == 99);
  CHECK(nearness.between(0, 3) == 0);
  CHECK(nearness.between(3, 4) == 0);
  const Nearness unknown({}, 3);
  CHECK(unknown.between(0, 0) == 1);
  CHECK(unknown.between(0, 2) == 0);
}

TEST_CASE("processes of a host come one after the other, and so do those of a site") {
  const Nearness nearness({{0, 0}, {1, 1}, {2, 0}, {1, 1}, {0, 0}, {3, 1}}, 6);
  CHECK(nearness.in_order() == std::vector<std::uint32_t>{0, 4, 2, 1, 3, 5});
}
