#include <doctest/doctest.h>

#include "base/random.h"
#include "linearizability/checker.h"
#include "linearizability/models.h"

namespace piracema::linearizability {

namespace {

/// The definition, word by word: some order of the answered operations and of some open ones that
/// keeps what was before what, and in which each answer is right.
template <class Model>
bool some_order(const Operations<Model>& operations, const typename Model::State& state,
                std::vector<bool>& taken) {
  bool done = true;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    done = done && (taken[i] || !operations[i].answer);
  }
  if (done) return true;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (taken[i]) continue;
    bool first = true;
    for (std::size_t j = 0; j < operations.size(); ++j) {
      const auto& other = operations[j];
      if (!taken[j] && other.answer && *other.answer < operations[i].call) first = false;
    }
    if (!first) continue;
    const auto after = Model::step(state, operations[i].input,
                                   operations[i].answer ? &operations[i].output : nullptr);
    if (!after) continue;
    taken[i] = true;
    if (some_order(operations, *after, taken)) return true;
    taken[i] = false;
  }
  return false;
}

/// Up to seven operations of three clients on one key, with few values, so that many histories are
/// right by chance; each client does one thing after the other, and may not hear of its last one.
Operations<MapModel> small_history(Random& random) {
  using Kind = MapModel::Kind;
  struct Client {
    bool busy = false, gone = false;
    std::size_t at = 0;
  };
  Client clients[3];
  History<MapModel> history;
  MapModel::State state;
  const auto value = [&]() -> MapModel::State {
    if (random.chance(0.3)) return std::nullopt;
    return random.below(2);
  };
  while (history.operations().size() < 7) {
    Client& client = clients[random.below(3)];
    if (client.gone && random.chance(0.9)) continue;
    if (!client.busy) {
      const auto kind = static_cast<Kind>(random.below(4));
      client.at = history.called(0, {kind, 1, random.below(2), value()});
      client.busy = true;
    } else if (random.chance(0.15)) {
      client = {.busy = false, .gone = true};
    } else {
      // Mostly what a register would have said just now, sometimes anything.
      const auto& input = history.operations()[client.at].input;
      MapModel::Output output{state, input.kind != Kind::cas || state == input.expected};
      state = *MapModel::step(state, input, &output);
      if (random.chance(0.1)) output.value = value();
      history.answered(client.at, output);
      client.busy = false;
    }
  }
  return history.operations();
}

}  // namespace

TEST_CASE("the search finds an order whenever trying all of them does") {
  Random random(1);
  int right = 0, wrong = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto operations = small_history(random);
    std::vector<bool> taken(operations.size());
    const bool possible = some_order(operations, MapModel::start(), taken);
    const Verdict found = check<MapModel>(operations);
    REQUIRE((found.is == Verdict::Is::linearizable) == possible);
    (possible ? right : wrong) += 1;
  }
  CHECK(right > 2'000);
  CHECK(wrong > 2'000);
}

}  // namespace piracema::linearizability
