#include "linearizability/frontier.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "linearizability/checker.h"
#include "linearizability/key_model.h"

namespace piracema::linearizability {

namespace {

using Kind = KeyModel::Kind;
using Is = Frontier<KeyModel>::Is;

/// `KeyModel` for the search over whole histories, all of one key.
struct WholeModel : KeyModel {
  static std::uint64_t key(const Input&) { return 0; }
};

/// Operations of one key in the words of a story: each number is a moment.
struct Op {
  std::uint64_t call = 0;
  std::optional<std::uint64_t> answer;
  KeyModel::Input input;
  KeyModel::Output output;
};

Op get(std::uint64_t call, std::uint64_t answer, std::uint64_t seen) {
  return {call, answer, {Kind::get}, {true, seen}};
}
Op put(std::uint64_t call, std::optional<std::uint64_t> answer, std::uint64_t value) {
  return {call, answer, {Kind::put, value}, {}};
}
Op create(std::uint64_t call, std::uint64_t answer, std::uint64_t value, bool done) {
  return {call, answer, {Kind::create, value}, {done}};
}
Op swap(std::uint64_t call, std::optional<std::uint64_t> answer, std::uint64_t wanted,
        std::uint64_t value, bool done) {
  return {call, answer, {Kind::swap, value, wanted}, {done}};
}
Op removal(std::uint64_t call, std::optional<std::uint64_t> answer, bool done) {
  return {call, answer, {Kind::remove}, {done}};
}
Op removal_of(std::uint64_t call, std::optional<std::uint64_t> answer, std::uint64_t wanted) {
  return {call, answer, {Kind::remove_if, 0, wanted}, {}};
}

Is verdict(const std::vector<Op>& story) {
  struct Event {
    std::uint64_t time;
    std::uint32_t number;
    bool is_answer;
  };
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < story.size(); ++i) {
    events.push_back({story[i].call, i, false});
    if (story[i].answer) events.push_back({*story[i].answer, i, true});
  }
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.time < b.time; });
  Frontier<KeyModel> frontier;
  for (const Event& event : events) {
    const Op& op = story[event.number];
    if (event.is_answer) {
      const Is is = frontier.answered(event.number);
      if (is != Is::possible) return is;
    } else if (op.answer) {
      REQUIRE(frontier.called(event.number, op.input, op.output));
    } else {
      frontier.called_in_vain(op.input);
    }
  }
  return Is::possible;
}

/// Up to eight operations of four clients, a third of which hear nothing; mostly what a map would
/// have answered, sometimes anything.
std::vector<Op> small_story(Random& random) {
  struct Client {
    std::optional<std::size_t> at;
  };
  Client clients[4];
  std::vector<Op> story;
  KeyModel::State state = 0;
  std::uint64_t time = 0, value = 0;
  const auto seen_value = [&] { return random.below(value + 1); };
  while (story.size() < 8) {
    Client& client = clients[random.below(4)];
    if (!client.at) {
      Op op{++time, std::nullopt, {static_cast<Kind>(random.below(6))}, {}};
      // Values that are still to be written are wanted by nobody.
      op.input.wanted = random.chance(0.6) ? state : seen_value();
      op.input.value = ++value;
      client.at = story.size();
      story.push_back(op);
      continue;
    }
    Op& op = story[*client.at];
    client.at.reset();
    if (random.chance(0.3)) {
      if (random.chance(0.5)) state = *KeyModel::step(state, op.input, nullptr);
      continue;
    }
    op.answer = ++time;
    const auto after = *KeyModel::step(state, op.input, nullptr);
    op.output.done = after != state || op.input.kind == Kind::get || op.input.kind == Kind::put;
    op.output.seen = state;
    state = after;
    if (random.chance(0.1)) op.output = {random.chance(0.5), seen_value()};
  }
  return story;
}

Operations<WholeModel> whole(const std::vector<Op>& story) {
  Operations<WholeModel> all;
  for (const Op& op : story) {
    Operation<WholeModel> one;
    one.call = op.call;
    one.answer = op.answer;
    one.input = op.input;
    one.output = op.output;
    all.push_back(one);
  }
  return all;
}

}  // namespace

TEST_CASE("what one client after the other wrote is what they read") {
  CHECK(verdict({}) == Is::possible);
  CHECK(verdict({get(0, 1, 0), put(2, 3, 7), get(4, 5, 7), swap(6, 7, 7, 8, true), get(8, 9, 8),
                 removal(10, 11, true), create(12, 13, 9, true), get(14, 15, 9)}) == Is::possible);
}

TEST_CASE("a stale read is refused") {
  CHECK(verdict({put(0, 1, 7), put(2, 3, 8), get(4, 5, 7)}) == Is::impossible);
  CHECK(verdict({put(0, 1, 7), put(2, 5, 8), get(3, 4, 7)}) == Is::possible);
  // Both are beside the write, but the second one knows less than the first.
  CHECK(verdict({put(0, 1, 7), put(2, 9, 8), get(3, 4, 8), get(5, 6, 7)}) == Is::impossible);
}

TEST_CASE("a write that was acknowledged and is lost is refused") {
  CHECK(verdict({put(0, 1, 7), get(2, 3, 0)}) == Is::impossible);
  CHECK(verdict({put(0, 1, 7), create(2, 3, 8, true)}) == Is::impossible);
  CHECK(verdict({put(0, 1, 7), removal(2, 3, false)}) == Is::impossible);
}

TEST_CASE("a write that is done twice is refused") {
  CHECK(verdict({put(0, 1, 7), put(2, 3, 8), get(4, 5, 8), get(6, 7, 7)}) == Is::impossible);
  CHECK(verdict({put(0, 1, 7), removal(2, 3, true), get(4, 5, 7)}) == Is::impossible);
  // Also where nobody heard whether it was done once.
  CHECK(verdict({put(0, {}, 7), get(1, 2, 7), put(3, 4, 8), get(5, 6, 7)}) == Is::impossible);
}

TEST_CASE("a value that nobody has written is refused") {
  CHECK(verdict({get(0, 1, 7)}) == Is::impossible);
  CHECK(verdict({get(0, 1, 7), put(2, 3, 7)}) == Is::impossible);
  CHECK(verdict({put(0, {}, 8), get(1, 2, 7)}) == Is::impossible);
}

TEST_CASE("of two swaps of one value only one is done") {
  CHECK(verdict({put(0, 1, 7), swap(2, 5, 7, 8, true), swap(3, 4, 7, 9, false)}) == Is::possible);
  CHECK(verdict({put(0, 1, 7), swap(2, 5, 7, 8, true), swap(3, 4, 7, 9, true)}) == Is::impossible);
  CHECK(verdict({put(0, 1, 7), swap(2, 3, 7, 8, false)}) == Is::impossible);
}

TEST_CASE("what was never answered may happen at once, late, or never, but once and not before") {
  const Op lost = put(0, {}, 7);
  CHECK(verdict({lost, get(1, 2, 7)}) == Is::possible);
  CHECK(verdict({lost, get(1, 2, 0), put(3, 4, 8), get(5, 6, 8), get(7, 8, 7)}) == Is::possible);
  CHECK(verdict({lost, get(1, 2, 0), put(3, 4, 8), get(5, 6, 8)}) == Is::possible);
  CHECK(verdict({lost, get(1, 2, 7), get(3, 4, 0)}) == Is::impossible);
  CHECK(verdict({get(0, 1, 7), put(2, {}, 7)}) == Is::impossible);
}

TEST_CASE("what was never answered explains what happened to others") {
  // A create that is refused, where the only one who can be in its way was never answered.
  CHECK(verdict({put(0, {}, 7), create(1, 2, 8, false)}) == Is::possible);
  CHECK(verdict({put(0, {}, 7), removal(1, 2, true), get(3, 4, 0)}) == Is::possible);
  CHECK(verdict({create(1, 2, 8, false)}) == Is::impossible);
  // One after the other.
  CHECK(verdict({put(0, {}, 7), swap(1, {}, 7, 8, true), swap(2, {}, 8, 9, true), get(3, 4, 9)}) ==
        Is::possible);
  CHECK(verdict({swap(1, {}, 7, 8, true), swap(2, {}, 8, 9, true), get(3, 4, 9)}) ==
        Is::impossible);
}

TEST_CASE("a lease that ends by itself does so no sooner than it may") {
  const Op held = create(0, 1, 7, true), end = removal_of(10, {}, 7);
  CHECK(verdict({held, end, get(8, 9, 7), get(11, 12, 0)}) == Is::possible);
  CHECK(verdict({held, end, get(11, 12, 7), get(13, 14, 7)}) == Is::possible);
  CHECK(verdict({held, end, get(8, 9, 0)}) == Is::impossible);
  CHECK(verdict({held, end, create(8, 9, 8, true)}) == Is::impossible);
  CHECK(verdict({held, end, create(11, 12, 8, true), get(13, 14, 0)}) == Is::impossible);
}

TEST_CASE("it says of every small history what the search over all of it says") {
  Random random(3);
  int right = 0, wrong = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto story = small_story(random);
    const bool possible = check<WholeModel>(whole(story)).is == Verdict::Is::linearizable;
    REQUIRE((verdict(story) == Is::possible) == possible);
    (possible ? right : wrong) += 1;
  }
  CHECK(right > 2'000);
  CHECK(wrong > 2'000);
}

TEST_CASE("a long history with hundreds of unanswered writes leaves little behind") {
  Frontier<KeyModel> frontier;
  std::uint64_t value = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (i % 500 == 0) frontier.called_in_vain({Kind::put, ++value});
    if (i % 10 == 0) frontier.called_in_vain({Kind::remove_if, 0, value});
    const std::uint64_t written = ++value;
    REQUIRE(frontier.called(1, {Kind::put, written}, {}));
    REQUIRE(frontier.called(2, {Kind::get}, {true, written}));
    REQUIRE(frontier.answered(2) == Is::possible);
    REQUIRE(frontier.answered(1) == Is::possible);
  }
  CHECK(frontier.world_count() == 1);
  // The 40 puts may all still come; what waits for a value that is gone may not.
  CHECK(frontier.open_count() >= 40);
  CHECK(frontier.open_count() < 250);
  REQUIRE(frontier.called(1, {Kind::get}, {true, 1}));
  CHECK(frontier.answered(1) == Is::possible);
  REQUIRE(frontier.called(1, {Kind::get}, {true, 2}));
  CHECK(frontier.answered(1) == Is::impossible);
}

TEST_CASE("more operations at a time than it can bear are refused") {
  Frontier<KeyModel> frontier;
  for (std::uint32_t i = 0; i < Frontier<KeyModel>::live_max; ++i) {
    REQUIRE(frontier.called(i, {Kind::get}, {}));
  }
  CHECK_FALSE(frontier.called(99, {Kind::get}, {}));
}

}  // namespace piracema::linearizability
