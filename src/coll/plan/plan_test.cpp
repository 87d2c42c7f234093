#include "coll/plan/plan.h"

#include <doctest/doctest.h>

#include <map>

#include "base/random.h"
#include "coll/trees/testing.h"

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

TEST_CASE("uniform links leave the MPI library's own collectives alone") {
  for (const double latency : {0.5e-6, 50e-6, 10e-3}) {
    LinkTable links(16, {latency, 0});
    guess_bandwidth(links);
    const Plan plan = make_plan(Engine::automatic, links, {});
    CHECK_FALSE(plan.ours_small);
    CHECK_FALSE(plan.ours_large);
  }
}

TEST_CASE("links between sites are worth a tree") {
  LinkTable links = testing::paper_links();
  guess_bandwidth(links);
  const Plan plan = make_plan(Engine::automatic, links, {});
  CHECK(plan.ours_small);
  CHECK(plan.ours_large);
  CHECK(make_plan(Engine::binomial, links, {}).ours_small);
  CHECK_FALSE(make_plan(Engine::native, links, {}).ours_small);
}

TEST_CASE("windows begin often at first") {
  std::vector<std::uint32_t> begins;
  for (std::uint32_t operation = 0; operation < 70; ++operation) {
    if (const auto window = window_beginning_with(operation)) {
      CHECK(*window == begins.size());
      begins.push_back(operation);
    }
  }
  CHECK(begins == std::vector<std::uint32_t>{0, 2, 4, 8, 16, 32, 48, 64});
}

TEST_CASE("a plan arrives as it was sent, and bytes that are none are refused") {
  const Plan plan = make_plan(Engine::automatic, testing::paper_links(), {});
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
                              {"PIRACEMA_COLL_FIXED_ORDER", "1"}});
  REQUIRE(good.ok());
  CHECK(good->engine == Engine::mst);
  CHECK(good->threshold == doctest::Approx(0.7));
  CHECK(good->fixed_order);
  for (const auto& [name, value] : {std::pair{"ENGINE", "fast"},
                                    {"ADAPT_EVERY", "0"},
                                    {"ADAPT_EVERY", "x"},
                                    {"THRESHOLD", "-1"},
                                    {"THRESHOLD", "nan"},
                                    {"FIXED_ORDER", "yes"}}) {
    const std::string variable = std::string("PIRACEMA_COLL_") + name;
    const auto wrong = settings({{variable, value}});
    REQUIRE_FALSE(wrong.ok());
    CHECK(wrong.error().message.find(variable) == 0);
  }
}
