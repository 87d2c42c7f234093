#include "run/sending/credit_book.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::runtime;

TEST_CASE("a sender gets more credits while batches are done fast, and no more than it may have") {
  CreditBook book({8, 1});
  CHECK(book.first(0).batches == CreditPace::batches_min);
  CHECK(book.first(1).batches == 1);
  std::uint32_t on_the_way = book.first(0).batches;
  for (int i = 0; i < 100; ++i) {
    const Credit credit = book.done(0, 1'000, 0);
    CHECK(credit.done == 1);
    on_the_way += credit.batches - 1;
    CHECK(on_the_way <= 8);
    CHECK(book.done(1, 1'000, 0).batches == 1);
  }
  CHECK(on_the_way == 8);
}

TEST_CASE("a sender hears of the slowest that follows") {
  CreditBook book({2});
  book.worked(10, 1'000);
  CHECK(book.done(0, 1'000, 0).ns_per_item == 100);
  CHECK(book.done(0, 1'000, 700).ns_per_item == 700);
}

TEST_CASE("batches of a snapshot are done before those that a credit was used for") {
  CreditBook book({2, 2});
  book.restored(1);
  book.restored(1);
  CHECK_FALSE(book.take_unpaid(0));
  CHECK(book.take_unpaid(1));
  CHECK(book.take_unpaid(1));
  CHECK_FALSE(book.take_unpaid(1));
}
