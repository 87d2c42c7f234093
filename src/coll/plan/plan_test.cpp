#include "coll/plan/plan.h"

#include <doctest/doctest.h>

#include <map>

#include "base/random.h"
#include "topology/trees/classic.h"
#include "topology/measure/guess.h"
#include "topology/trees/testing.h"

using namespace piracema;
using namespace piracema::coll;

namespace {

Result<Settings> settings(const std::map<std::string, std::string>& environment) {
  return read_settings([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("an engine that is forced uses its trees for everything") {
  const LinkTable links = testing::paper_links();
  for (const Engine engine : {Engine::tree, Engine::two_level, Engine::binomial}) {
    CHECK(make_plan(engine, links, testing::paper_sites()).ours.all());
    CHECK(first_plan(engine, 24).ours.all());
  }
  CHECK(make_plan(Engine::automatic, links, {}).ours.none());
}

TEST_CASE("a trial is the other way for a few calls") {
  Plan plan;
  plan.ours[3] = true;
  plan.trial[3] = true;
  CHECK(plan.way(3, 0) == Way::theirs);
  CHECK(plan.way(3, trial_calls - 1) == Way::theirs);
  CHECK(plan.way(3, trial_calls) == Way::ours);
  CHECK(plan.way(4, 0) == Way::theirs);
}

TEST_CASE("bandwidth that was not measured is that of links as near or as far") {
  LinkTable links(4, {1 * testing::ms, 0});
  links.set_both(0, 1, {0.01 * testing::ms, 0});
  LinkTable guessed = links;
  guess_bandwidth(guessed);
  CHECK(guessed.at(0, 1).per_byte == 1e-9);
  CHECK(guessed.at(0, 2).per_byte == 1e-8);
  links.set_both(0, 3, {1 * testing::ms, 5e-8});
  guess_bandwidth(links);
  CHECK(links.at(0, 1).per_byte == 1e-9);
  CHECK(links.at(1, 2).per_byte == 5e-8);
}

TEST_CASE("a plan arrives as it was sent, and bytes that are none are refused") {
  Plan plan = make_plan(Engine::automatic, testing::paper_links(), {});
  plan.length = 100;
  plan.version = 7;
  plan.ours[7] = plan.trial[31] = true;
  const auto bytes = encode(plan);
  REQUIRE(decode_plan(bytes, 24).ok());
  CHECK(*decode_plan(bytes, 24) == plan);
  CHECK_FALSE(decode_plan(bytes, 23).ok());
  CHECK_FALSE(decode_plan({}, 24).ok());
  Random random(1);
  for (int i = 0; i < 5'000; ++i) {
    auto bad = bytes;
    bad[random.below(bad.size())] = static_cast<char>(random.next());
    (void)decode_plan(bad, 24);
  }
}

TEST_CASE("the environment is read, and what is wrong in it is named") {
  CHECK(settings({})->engine == Engine::automatic);
  const auto good = settings({{"PIRACEMA_COLL_ENGINE", "mst"},
                              {"PIRACEMA_COLL_ADAPT_EVERY", "1"},
                              {"PIRACEMA_COLL_THRESHOLD", "70"},
                              {"PIRACEMA_COLL_FIXED_ORDER", "1"},
                              {"PIRACEMA_COLL_NONBLOCKING", "1"}});
  REQUIRE(good.ok());
  CHECK(good->engine == Engine::mst);
  CHECK(good->threshold == doctest::Approx(0.7));
  CHECK(good->fixed_order);
  CHECK(good->nonblocking);
  for (const auto& [name, value] : {std::pair{"ENGINE", "fast"},
                                    {"ADAPT_EVERY", "0"},
                                    {"ADAPT_EVERY", "x"},
                                    {"THRESHOLD", "-1"},
                                    {"THRESHOLD", "nan"},
                                    {"FIXED_ORDER", "yes"},
                                    {"NONBLOCKING", "2"}}) {
    const std::string variable = std::string("PIRACEMA_COLL_") + name;
    const auto wrong = settings({{variable, value}});
    REQUIRE_FALSE(wrong.ok());
    CHECK(wrong.error().message.find(variable) == 0);
  }
}

TEST_CASE(
    "until the paper's engine has its first tree, the root's own is a minimum spanning tree") {
  const LinkTable links = testing::paper_links();
  const Tree tree = tree_for(Engine::mst, links, 12, 24, {});
  CHECK(tree == minimum_spanning_tree(TableCosts(links, 0, 0), 12));
  const TableCosts costs(links, send_overhead, 24);
  CHECK(completion(tree, costs) < 0.8 * completion(binomial_tree(24, 12), costs));
}
