#include "state/redistribution.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>
#include <piracema/sequence.h>

#include <functional>

#include "base/testing.h"
#include "flow/plan.h"
#include "flow/states.h"
#include "state/keyed_saver.h"
#include "state/restored_part.h"
#include "store/snapshot/memory_store.h"

using namespace piracema;
using testing::contains;

namespace {

struct SumAtEnd {
  std::int64_t sum = 0;
  void operator()(const std::int64_t& n) { sum += n; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sum);
  }
};

struct Replicas {
  std::uint32_t sources = 1, plain = 1, keyed = 2, sinks = 1, groups = 16;
};

Graph graph_with(const Replicas& numbers) {
  return pipeline(source("in", Sequence{1, 10}).replicas(numbers.sources),
                  farm("twice", numbers.plain, [](const std::int64_t& n) { return 2 * n; }),
                  farm("count", numbers.keyed,
                       [](const std::int64_t& n, std::int64_t& count) {
                         count += n;
                         return count;
                       })
                      .by_key([](const std::int64_t& n) { return n; }, numbers.groups),
                  sink("sum", SumAtEnd{}).replicas(numbers.sinks));
}

std::string said(const Replicas& now) {
  const Graph before = graph_with({});
  const auto layouts = flow::layouts_by_node(before.shape, flow::state_types_of(before).layouts);
  const auto different = state::compare(before.shape, graph_with(now).shape, layouts);
  CHECK_FALSE(different.another_program);
  return different.why;
}

}  // namespace

TEST_CASE("a job goes on with other numbers of what has its state by key, or none") {
  CHECK(said({}).empty());
  CHECK(said({.keyed = 5}).empty());
  CHECK(said({.plain = 3, .keyed = 1}).empty());
}

TEST_CASE("other numbers are refused with the operator that cannot have them, and why") {
  CHECK(
      contains(said({.sources = 2}), "operator 'in' had 1 replicas and has 2 now: it is a source"));
  CHECK(contains(said({.sinks = 2}),
                 "operator 'sum' had 1 replicas and has 2 now: it has a state "
                 "for each replica ({i64}), not for each key"));
  CHECK(contains(said({.groups = 32}), "operator 'count' were in 16 groups and are in 32 now"));
}

TEST_CASE("another program is another program, whatever its numbers") {
  const Graph other = pipeline(source("in", Sequence{1, 10}), sink("sum", SumAtEnd{}));
  CHECK(state::compare(graph_with({}).shape, other.shape, {}).another_program);
}

TEST_CASE("every replica gets the keys that it owns, however many had them before") {
  constexpr std::int64_t keys = 5'000;
  const auto key_hash = [](std::int64_t key) { return mix(KeyHash<std::int64_t>::of(key)); };
  for (const std::uint32_t before : {1u, 2u, 3u, 16u}) {
    const Graph old = graph_with({.keyed = before});
    const auto plan = flow::make_plan(old.shape);
    store::MemoryStore store;
    store::Manifest manifest{
        .snapshot = 1, .epoch = 1, .job = "job", .nodes = state::nodes_of(old.shape)};
    for (ReplicaId id = 0; id < plan.replicas.size(); ++id) {
      const flow::ReplicaPlan& replica = plan.replicas[id];
      store::PartContent content{Buffer(as_bytes("plain"))};
      if (replica.owned.count() != 0) {
        detail::KeyedTable<std::int64_t, std::int64_t> table;
        table.own(replica.groups, replica.owned);
        for (std::int64_t key = 0; key < keys; ++key) {
          if (!replica.owned.has(replica.groups.group_of(key_hash(key)))) continue;
          table.edit(key, key_hash(key)) = key;
        }
        state::KeyedSaver saver(id, replica.groups, table);
        saver.freeze(1, 0);
        saver.begin(Buffer(as_bytes("plain")));
        while (saver.go_on()) {
        }
        content = saver.take();
      }
      const auto part = store.put_content(1, id, content);
      REQUIRE(part);
      manifest.parts.push_back(*part);
    }
    REQUIRE(store.commit(manifest));

    for (const std::uint32_t after : {1u, 2u, 5u, 16u}) {
      const Graph now = graph_with({.keyed = after});
      std::int64_t found = 0;
      for (const flow::ReplicaPlan& replica : flow::make_plan(now.shape).replicas) {
        const auto part = state::read_part(store, 1, now.shape, replica);
        REQUIRE(part);
        REQUIRE(part->plain);
        CHECK(as_text(*part->plain) == "plain");
        if (replica.owned.count() == 0) continue;
        detail::KeyedTable<std::int64_t, std::int64_t> table;
        table.own(replica.groups, replica.owned);
        REQUIRE(store::read_units(store, part->keys.units, [&](const auto& unit, Bytes bytes) {
          table.replay(unit.group, bytes, saved_in::none);
          return Result<Done>(Done{});
        }));
        table.for_each([&](std::int64_t key, std::int64_t value) { CHECK(key == value); });
        found += static_cast<std::int64_t>(table.size());
      }
      CHECK(found == keys);
    }
  }
}
