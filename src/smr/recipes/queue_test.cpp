#include <piracema/smr/queue.h>

#include "base/text.h"
#include "smr/recipes/testing.h"

namespace piracema::smr::kv {

using namespace piracema::smr::kv::testing;

namespace {

Queue::Claim claim_of(Queue& queue) {
  auto claim = queue.claim();
  REQUIRE(claim.ok());
  REQUIRE(claim->has_value());
  return **std::move(claim);
}

std::string taken(Queue& queue) {
  const auto item = queue.take();
  REQUIRE(item.ok());
  return *item ? **item : "(none)";
}

}  // namespace

TEST_CASE("items leave a queue in the order in which they came, each once") {
  FakeGroup group;
  Queue queue(group, "q", for_long), other(group, "q", for_long);
  for (int i = 0; i < 100; ++i) REQUIRE((i % 2 == 0 ? queue : other).put(concat(i)).ok());
  for (int i = 0; i < 100; ++i) {
    CHECK(taken(i % 3 == 0 ? queue : other) == concat(i));
  }
  CHECK(taken(queue) == "(none)");
  CHECK(group.ask(List{"", ""}).entries.empty());
}

TEST_CASE(
    "an item that is claimed is nobody else's until it is given back, and then with a larger "
    "token") {
  FakeGroup group;
  Queue ann(group, "q", for_long), bob(group, "q", for_long);
  REQUIRE(ann.put("a").ok());
  const Queue::Claim claim = claim_of(ann);
  CHECK(claim.item == "a");
  CHECK(taken(bob) == "(none)");
  CHECK(taken(ann) == "(none)");
  CHECK(ann.give_back(claim).ok());
  const Queue::Claim next = claim_of(bob);
  CHECK(next.item == "a");
  CHECK(next.fence.token > claim.fence.token);
  CHECK(ann.finish(claim).error().code == Errc::refused);
  CHECK(bob.finish(next).ok());
  CHECK(taken(ann) == "(none)");
}

TEST_CASE("an item of a taker that is cut off is handed out again, and finished once") {
  FakeGroup group;
  Line line(group);
  Calls lost;
  Queue ann(line, "q", {.ttl = short_ttl, .lost = [&] { lost.call(); }});
  Queue bob(group, "q", for_long);
  REQUIRE(bob.put("a").ok());
  const Queue::Claim claim = claim_of(ann);
  line.cut();
  CHECK(lost.wait_for(1));
  group.advance(long_ttl / 2);
  const Queue::Claim next = claim_of(bob);
  CHECK(next.item == "a");
  line.mend();
  CHECK(ann.finish(claim).error().code == Errc::refused);
  CHECK(bob.finish(next).ok());
}

TEST_CASE("what is done with an item is done with its end, or not at all") {
  FakeGroup group;
  Queue queue(group, "q", for_long);
  REQUIRE(queue.put("a").ok());
  const Queue::Claim claim = claim_of(queue);
  Transaction with_result = queue.finishing(claim);
  with_result.puts.push_back({"result", "of a", Index{0}});
  CHECK(group.ask(with_result).status == Status::ok);
  CHECK(group.get("result") == "of a");
  with_result.puts[0].value = "twice";
  CHECK(group.ask(with_result).status == Status::fenced);
  CHECK(group.get("result") == "of a");
  CHECK(taken(queue) == "(none)");
}

TEST_CASE("no item is lost or handed out twice because an answer was") {
  FakeGroup group;
  Queue queue(group, "q", for_long);
  REQUIRE(queue.put("a").ok());
  REQUIRE(queue.put("b").ok());
  REQUIRE(claim_of(queue).item == "a");  // The lease is there, and "b" is seen.
  SUBCASE("that of a claim") {
    group.lose_answers(1);
    CHECK(queue.claim().error().code == Errc::timeout);
    CHECK(claim_of(queue).item == "b");
    CHECK(taken(queue) == "(none)");
  }
  SUBCASE("that of the end of one") {
    const Queue::Claim claim = claim_of(queue);
    group.lose_answers(1);
    CHECK(queue.finish(claim).ok());
    CHECK(group.get(claim.key) == "(none)");
  }
  SUBCASE("that of giving one back") {
    const Queue::Claim claim = claim_of(queue);
    group.lose_answers(1);
    CHECK_FALSE(queue.give_back(claim).ok());
    CHECK(claim_of(queue).item == "b");
  }
}

TEST_CASE("a queue whose object is gone has given back what it had") {
  FakeGroup group;
  Queue bob(group, "q", for_long);
  REQUIRE(bob.put("a").ok());
  {
    Queue ann(group, "q", for_long);
    claim_of(ann);
    CHECK(taken(bob) == "(none)");
  }
  CHECK(taken(bob) == "a");
}

TEST_CASE("a taker finds what is behind many items that others have") {
  FakeGroup group;
  Queue ann(group, "q", for_long), bob(group, "q", for_long);
  for (int i = 0; i < 1'100; ++i) REQUIRE(ann.put(concat(i)).ok());
  for (int i = 0; i < 1'050; ++i) REQUIRE(claim_of(ann).item == concat(i));
  CHECK(taken(bob) == "1050");
}

}  // namespace piracema::smr::kv
