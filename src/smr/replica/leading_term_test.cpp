#include "smr/replica/leading_term.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace piracema::smr;

TEST_CASE("each term is told once, with an end between two of a view and none between two views") {
  std::vector<std::uint64_t> terms;
  std::string told;
  LeadingTerm term([&](std::uint64_t one) { terms.push_back(one), told += 'b'; },
                   [&] { told += 'e'; });
  term.see(false, 0, 0);
  CHECK(told.empty());
  term.see(true, 0, 1);
  term.see(true, 0, 1);
  CHECK(told == "b");
  // The group has gone round: another leader was between.
  term.see(true, 0, 4);
  CHECK(told == "beb");
  term.see(true, 1, 0);
  CHECK(told == "bebb");
  term.see(false, 1, 1);
  term.see(false, 1, 2);
  CHECK(told == "bebbe");
  REQUIRE(terms.size() == 3);
  CHECK(terms[0] < terms[1]);
  CHECK(terms[1] < terms[2]);
}

TEST_CASE("nobody need listen") {
  LeadingTerm term(nullptr, nullptr);
  term.see(true, 0, 0);
  term.see(false, 0, 1);
}
