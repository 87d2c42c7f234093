#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "smr/kv/testing.h"

namespace piracema::smr::kv {

using namespace piracema::smr::kv::testing;

TEST_CASE("a transaction changes several entries at one place in the order") {
  Store store;
  const Index a = store(Put{"a", "1"}).index;
  store(Put{"b", "1"});
  const Reply done = store(Transaction{
      .conditions = {{"c", 0}}, .puts = {{"a", "2", a}, {"d", "2", 0}}, .removes = {{"b"}}});
  REQUIRE(done.status == Status::ok);
  REQUIRE(done.entries.size() == 3);
  CHECK(done.entries[0].key == "a");
  CHECK(done.entries[0].created == a);
  CHECK(done.entries[0].changed == done.index);
  CHECK(done.entries[1].created == done.index);
  CHECK(done.entries[2].key == "b");
  CHECK(store.get("a") == "2");
  CHECK(store.get("b") == "(none)");
  CHECK(store.get("d") == "2");
}

TEST_CASE("a transaction of which one part does not hold changes nothing and says which") {
  Store store;
  const Index a = store(Put{"a", "1"}).index;
  const Index lock = store(Put{"lock", "me"}).entries.at(0).created;
  const auto unchanged = [&] { return store.get("a") == "1" && store.get("b") == "(none)"; };

  SUBCASE("a version that was only compared") {
    const Reply no =
        store(Transaction{.conditions = {{"a", a + 1}, {"x", 7}}, .puts = {{"b", "2"}}});
    CHECK(no.status == Status::conflict);
    REQUIRE(no.entries.size() == 2);
    CHECK(no.entries[0].key == "a");
    CHECK(no.entries[0].changed == a);
    CHECK(no.entries[1].key == "x");
    CHECK(no.entries[1].changed == 0);
  }
  SUBCASE("a version of what is put") {
    CHECK(store(Transaction{.puts = {{"b", "2"}, {"a", "2", 0}}}).status == Status::conflict);
  }
  SUBCASE("a fence, before all else") {
    const Reply no = store(Transaction{.conditions = {{"a", 1}},
                                       .fences = {{"lock", lock + 1}},
                                       .puts = {{"b", "2"}, {"a", "2", a}}});
    CHECK(no.status == Status::fenced);
    REQUIRE(no.entries.size() == 1);
    CHECK(no.entries[0].created == lock);
  }
  SUBCASE("a fence of one change") {
    CHECK(store(Transaction{.puts = {{"b", "2"}, {"a", "2", a, 0, Fence{"none", 1}}}}).status ==
          Status::fenced);
  }
  SUBCASE("a lease that has ended") {
    CHECK(store(Transaction{.puts = {{"b", "2"}, {"a", "2", a, 77}}}).status == Status::no_lease);
  }
  SUBCASE("what is to be removed and is not there") {
    const Reply no = store(Transaction{.puts = {{"b", "2"}}, .removes = {{"x"}}});
    CHECK(no.status == Status::not_found);
    CHECK(no.entries.at(0).key == "x");
  }
  CHECK(unchanged());
}

TEST_CASE("what a transaction compares is what was there before it") {
  Store store;
  const Index a = store(Put{"a", "1"}).index;
  CHECK(store(Transaction{.conditions = {{"a", a}, {"b", 0}}, .puts = {{"b", "2"}, {"a", "2"}}})
            .status == Status::ok);
}

TEST_CASE("an entry whose lease has ended is none for a transaction") {
  Store store;
  const Index lease = store.at(0, Grant{second}).lease;
  store(Put{"a", "1", {}, lease});
  const Reply taken =
      store.at(2 * second, Transaction{.conditions = {{"a", 0}}, .puts = {{"a", "2", 0}}});
  CHECK(taken.status == Status::ok);
  CHECK(taken.entries.at(0).created == taken.index);
}

TEST_CASE("transactions beyond the limits are refused") {
  Store store;
  const auto refused = [&](const Transaction& o) { return store(o).status == Status::bad_request; };
  CHECK(refused({.puts = {{"a", "1"}, {"a", "2"}}}));
  CHECK(refused({.puts = {{"a", "1"}}, .removes = {{"a"}}}));
  CHECK(refused({.conditions = {{"", 1}}}));
  CHECK(refused({.fences = {{"", 1}}}));
  Transaction large;
  for (std::size_t i = 0; i < transaction_max; ++i) {
    large.puts.push_back({"k" + std::to_string(i), "1"});
  }
  CHECK_FALSE(refused(large));
  large.conditions.push_back({"a", 0});
  CHECK(refused(large));
}

TEST_CASE("a transaction conflicts with who reads or writes its entries and with nobody else") {
  const Machine machine;
  const auto keys = [&](const auto& o) { return machine.keys(encode(o)); };
  const auto has = [](const std::vector<std::uint64_t>& list, const char* key) {
    return std::count(list.begin(), list.end(), Shards::of(key)) == 1;
  };
  const Keys both = keys(Transaction{.conditions = {{"c", 0}},
                                     .fences = {{"f", 1}},
                                     .puts = {{"p", "1"}, {"q", "1", {}, 0, Fence{"g", 1}}},
                                     .removes = {{"r"}}});
  CHECK_FALSE(both.all);
  for (const char* key : {"p", "q", "r"}) CHECK(has(both.writes, key));
  for (const char* key : {"c", "f", "g"}) CHECK(has(both.reads, key));
  CHECK(both.writes.size() == 3);
  // Whoever changes leases comes before or after it.
  const Keys grant = keys(Grant{second});
  CHECK(std::count(both.reads.begin(), both.reads.end(), grant.writes.at(0)) == 1);
}

}  // namespace piracema::smr::kv
