#include "smr/link/stranger_places.h"

#include <doctest/doctest.h>

using namespace piracema::smr;

TEST_CASE("an address that comes without end pushes out its own, and nobody else") {
  StrangerPlaces places;
  CHECK_FALSE(places.enter(1, "10.0.0.1", false));
  for (StrangerPlaces::Number i = 2; i < 100'000; ++i) {
    const auto goes = places.enter(i, "10.0.0.2", false);
    CHECK(goes != 1);
    CHECK(goes.has_value() == (i >= 2 + StrangerPlaces::of_address_max));
  }
}

TEST_CASE("addresses without end push out those that have the most, and no member") {
  StrangerPlaces places;
  CHECK_FALSE(places.enter(1, "10.0.0.1", true));
  StrangerPlaces::Number number = 2;
  for (; number < 22; ++number) CHECK_FALSE(places.enter(number, "10.0.0.2", false));
  bool all_of_it_went = false;
  for (int i = 0; i < 100'000; ++i, ++number) {
    const auto goes = places.enter(number, std::to_string(i), false);
    if (goes) CHECK(*goes != 1);
    // Until it has no more than the others.
    if (goes && *goes == 20) all_of_it_went = true;
  }
  CHECK(all_of_it_went);
}

TEST_CASE("who leaves makes room") {
  StrangerPlaces places;
  for (StrangerPlaces::Number i = 0; i < StrangerPlaces::of_address_max; ++i) {
    CHECK_FALSE(places.enter(i, "a", false));
  }
  places.leave(3, "a", false);
  CHECK_FALSE(places.enter(1'000, "a", false));
  CHECK(places.enter(1'001, "a", false) == 0);
}
