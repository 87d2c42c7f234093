#include "linearizability/checker.h"

#include <doctest/doctest.h>

#include "linearizability/models.h"

namespace piracema::linearizability {

namespace {

using Kind = MapModel::Kind;
using Is = Verdict::Is;
using State = MapModel::State;

constexpr std::uint64_t x = 1, y = 2;

/// "get of x between 3 and 5 gave 7".
Operation<MapModel> get(std::uint64_t call, std::uint64_t answer, State gave,
                        std::uint64_t key = x) {
  return {call, answer, {Kind::get, key}, {gave, true}};
}
Operation<MapModel> put(std::uint64_t call, std::uint64_t answer, std::uint64_t value, State before,
                        std::uint64_t key = x) {
  return {call, answer, {Kind::put, key, value}, {before, true}};
}
Operation<MapModel> open_put(std::uint64_t call, std::uint64_t value, std::uint64_t key = x) {
  return {call, std::nullopt, {Kind::put, key, value}};
}
Operation<MapModel> cas(std::uint64_t call, std::uint64_t answer, State expected,
                        std::uint64_t value, State before, bool done) {
  return {call, answer, {Kind::cas, x, value, expected}, {before, done}};
}
Is verdict(const Operations<MapModel>& operations) { return check<MapModel>(operations).is; }

}  // namespace

TEST_CASE("no history, and one that waits for its first answer, are linearizable") {
  CHECK(verdict({}) == Is::linearizable);
  CHECK(verdict({open_put(0, 1), open_put(1, 2)}) == Is::linearizable);
}

TEST_CASE("one client after the other sees what the last one wrote") {
  CHECK(verdict({put(0, 1, 7, {}), get(2, 3, 7)}) == Is::linearizable);
  CHECK(verdict({put(0, 1, 7, {}), get(2, 3, {})}) == Is::impossible);
  CHECK(verdict({put(0, 1, 7, {}), get(2, 3, 8)}) == Is::impossible);
}

TEST_CASE("a read beside a write sees it or does not") {
  CHECK(verdict({put(0, 3, 7, {}), get(1, 2, 7)}) == Is::linearizable);
  CHECK(verdict({put(0, 3, 7, {}), get(1, 2, {})}) == Is::linearizable);
}

TEST_CASE("what one read has seen no later read may miss") {
  // Both are beside the write, so each alone would be right.
  CHECK(verdict({put(0, 9, 7, {}), get(1, 2, 7), get(3, 4, {})}) == Is::impossible);
  CHECK(verdict({put(0, 9, 7, {}), get(1, 2, {}), get(3, 4, 7)}) == Is::linearizable);
  CHECK(verdict({put(0, 9, 7, {}), get(1, 4, 7), get(2, 3, {})}) == Is::linearizable);
}

TEST_CASE("two writes and two readers that saw them in different orders") {
  // Herlihy and Wing (1990), the register whose order two observers disagree on.
  CHECK(verdict({put(0, 20, 1, {}), put(1, 21, 2, 1), get(2, 3, 1), get(4, 5, 2)}) ==
        Is::linearizable);
  CHECK(verdict({put(0, 20, 1, {}), put(1, 21, 2, 1), get(2, 3, 1), get(4, 5, 2), get(6, 7, 1)}) ==
        Is::impossible);
}

TEST_CASE("of two clients that both wanted the first place only one may have it") {
  CHECK(verdict({cas(0, 2, {}, 1, {}, true), cas(1, 3, {}, 2, 1, false)}) == Is::linearizable);
  CHECK(verdict({cas(0, 2, {}, 1, {}, true), cas(1, 3, {}, 2, {}, true)}) == Is::impossible);
  CHECK(verdict({cas(0, 2, {}, 1, 2, false), cas(1, 3, {}, 2, 1, false)}) == Is::impossible);
}

TEST_CASE("an open write may happen late, or never, but only once") {
  CHECK(verdict({open_put(0, 7), get(1, 2, {}), get(3, 4, 7)}) == Is::linearizable);
  CHECK(verdict({open_put(0, 7), get(1, 2, {}), get(3, 4, {})}) == Is::linearizable);
  CHECK(verdict({open_put(0, 7), get(1, 2, 7), get(3, 4, {})}) == Is::impossible);
  CHECK(verdict({open_put(0, 7), put(1, 2, 8, 7), get(3, 4, 7)}) == Is::impossible);
  CHECK(verdict({open_put(4, 7), get(1, 2, 7)}) == Is::impossible);
}

TEST_CASE("an acknowledged operation that was done twice is found") {
  const auto append = [](std::uint64_t call, std::uint64_t answer, State before) {
    return Operation<MapModel>{call, answer, {Kind::append, x, 5}, {before, true}};
  };
  const State once = MapModel::appended({}, 5), twice = MapModel::appended(once, 5);
  CHECK(verdict({append(0, 1, {}), get(2, 3, once)}) == Is::linearizable);
  CHECK(verdict({append(0, 1, {}), get(2, 3, twice)}) == Is::impossible);
}

TEST_CASE("each key has its own history") {
  CHECK(verdict({put(0, 1, 7, {}), put(2, 3, 8, {}, y), get(4, 5, 7), get(6, 7, 8, y)}) ==
        Is::linearizable);
  CHECK(verdict({put(0, 1, 7, {}), get(2, 3, 7, y)}) == Is::impossible);
}

TEST_CASE("whoever finds no place is named") {
  auto lost = get(2, 3, {});
  lost.client = 42;
  const Verdict verdict = check<MapModel>({put(0, 1, 7, {}), lost});
  CHECK(verdict.why ==
        "key 1: after 1 of 2 operations there is no place for that of client 42, "
        "called at 2 and answered at 3: get 0 if nothing -> nothing");
}

TEST_CASE("a search that would take for ever ends undecided") {
  // Nobody can have read 99, but all orders of the writes lead to different places.
  Operations<MapModel> operations;
  for (std::uint64_t i = 0; i < 40; ++i) operations.push_back(open_put(i, i));
  operations.push_back(get(100, 101, 99));
  CHECK(check<MapModel>(operations, 10'000).is == Is::undecided);
}

TEST_CASE("a long history of many clients is decided at once") {
  // 20,000 operations, ten at a time, each beside all of its round.
  Operations<MapModel> operations;
  State state;
  for (std::uint64_t round = 0; round < 2'000; ++round) {
    for (std::uint64_t i = 0; i < 10; ++i) {
      operations.push_back(put(round * 20 + i, round * 20 + 10 + i, round * 10 + i, state));
      state = round * 10 + i;
    }
  }
  CHECK(verdict(operations) == Is::linearizable);
  operations.back().output.value = 3;
  CHECK(verdict(operations) == Is::impossible);
}

}  // namespace piracema::linearizability
