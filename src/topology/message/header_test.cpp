#include "topology/message/header.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "topology/trees/classic.h"

using namespace piracema;
using namespace piracema::coll;

TEST_CASE("a header arrives as it was sent, and its parts go on to the children") {
  Header header{.operation = 7,
                .branches = to_branches(binomial_tree(9, 4)),
                .data_bytes = 1'000,
                .payload = std::string("a\0b", 3),
                .segment_bytes = 65,
                .up_version = 5,
                .up = to_branches(binomial_tree(9, 0)),
                .up_large = to_branches(binomial_tree(9, 8)),
                .round = 3};
  const auto bytes = encode(header);
  CHECK(bytes.size() <= encoded_bytes_max(9, 3));
  const auto back = decode(bytes, 9);
  REQUIRE(back.ok());
  CHECK(back->operation == 7);
  CHECK(back->branches == header.branches);
  CHECK(back->payload == header.payload);
  CHECK(back->data_bytes == 1'000);
  CHECK(back->segment_bytes == 65);
  CHECK(back->round == 3);
  CHECK(back->up_version == 5);
  CHECK(back->up == header.up);
  CHECK(back->up_large == header.up_large);
  for (const auto child : children_of(back->branches)) {
    CHECK(decode(encode(*back, child), 9)->branches == Branches(child.begin(), child.end()));
  }
}

TEST_CASE("bytes that are no header are refused") {
  const Branches tree = to_branches(binomial_tree(5, 0));
  const Header plain{.branches = tree, .payload = "data"};
  const Header with_trees{
      .branches = tree, .payload = "data", .up_version = 1, .up = tree, .up_large = tree};
  for (const auto& good : {encode(plain), encode(with_trees)}) {
    REQUIRE(decode(good, 5).ok());
    CHECK_FALSE(decode(good, 4).ok());
    for (std::size_t length = 0; length < good.size(); ++length) {
      CHECK_FALSE(decode(std::span(good).first(length), 5).ok());
    }
    Random random(1);
    for (int i = 0; i < 20'000; ++i) {
      auto bad = good;
      for (int j = 0; j < 3; ++j) bad[random.below(bad.size())] = static_cast<char>(random.next());
      (void)decode(bad, 5);  // An error or not, but nothing else: the sanitizers watch.
    }
  }
  CHECK_FALSE(decode(encode(plain, {}), 5).ok());
}
