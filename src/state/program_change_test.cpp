#include "state/program_change.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>
#include <piracema/sequence.h>

#include "base/testing.h"
#include "flow/plan.h"
#include "flow/states.h"
#include "state/plain_part.h"
#include "state/redistribution.h"
#include "state/restored_part.h"
#include "store/snapshot/memory_store.h"
#include "wire/writer.h"

using namespace piracema;
using testing::contains;

namespace {

using Names = std::vector<std::string>;

struct Sum {
  std::int64_t sum = 0;
  std::int64_t operator()(const std::int64_t& n) { return sum += n; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sum);
  }
};
struct Forget {
  void operator()(const std::int64_t&) {}
};

auto in(const char* name = "in") { return source(name, Sequence{1, 10}); }
auto twice(const char* name = "twice") {
  return node(name, [](const std::int64_t& n) { return 2 * n; });
}
auto sum() { return node("sum", Sum{}); }
auto count(std::uint32_t replicas = 2, std::uint32_t groups = 16) {
  return farm("count", replicas,
              [](const std::int64_t& n, std::int64_t& count) {
                count += n;
                return count;
              })
      .by_key([](const std::int64_t& n) { return n; }, groups);
}
auto out() { return sink("out", Forget{}); }

state::ProgramChange change(const Graph& before, const Graph& now, const Names& may_go = {}) {
  const auto layouts = flow::layouts_by_node(before.shape, flow::state_types_of(before).layouts);
  return state::change_program(before.shape, now.shape, layouts, may_go);
}

// All parts of a snapshot of the program; each says who it is of.
store::Manifest snapshot_of(store::MemoryStore& store, const Graph& graph, state::Stage stage) {
  store::Manifest manifest{
      .snapshot = 1, .epoch = 1, .job = "job", .nodes = state::nodes_of(graph.shape)};
  const auto plan = flow::make_plan(graph.shape);
  for (ReplicaId id = 0; id < plan.replicas.size(); ++id) {
    Buffer part;
    wire::Writer writer(part);
    writer.number(static_cast<std::uint8_t>(stage));
    writer.text(flow::replica_name(graph.shape, plan.replicas[id]));
    manifest.parts.push_back(*store.put(1, id, part));
  }
  REQUIRE(store.commit(manifest));
  return manifest;
}

}  // namespace

TEST_CASE("operators go on by their names, wherever they are in the program") {
  const auto found = change(pipeline(in(), sum(), count(), out()),
                            pipeline(in(), count(3), twice(), sum(), out()));
  CHECK(found.why == "");
  CHECK(found.kept == Names{"in", "count", "sum", "out"});
  CHECK(found.added == Names{"twice"});
  CHECK(found.dropped.empty());
  CHECK(found.rewired == Names{"count", "sum", "out"});
}

TEST_CASE("what had no state may go; what had one only if the user says so, by name") {
  const Graph before = pipeline(in(), twice(), sum(), out()), now = pipeline(in(), out());
  CHECK(change(before, pipeline(in(), sum(), out())).dropped == Names{"twice"});
  CHECK(
      change(before, now).why ==
      "operator 'sum' is not in the program, and its state ({i64}) would be lost: --drop sum says "
      "that it may be");
  CHECK(change(before, now, {"sum"}).why == "");
  CHECK(change(before, now, {"sum"}).dropped == Names{"twice", "sum"});
  CHECK(contains(change(before, pipeline(in("other"), twice(), sum(), out())).why,
                 "operator 'in' is not in the program, and how far it has read would be lost"));
}

TEST_CASE("a name that is to be dropped and would not be is a mistake") {
  const Graph before = pipeline(in(), sum(), out()), now = pipeline(in(), sum(), twice(), out());
  CHECK(change(before, now, {"sum"}).why ==
        "operator 'sum' is to be dropped, but is in the program");
  CHECK(change(before, now, {"som"}).why ==
        "operator 'som' is to be dropped, but is not in the snapshot");
}

TEST_CASE("what cannot be carried over is refused with the operator's name") {
  const Graph before = pipeline(in(), count(), sum(), out());
  CHECK(contains(change(before, pipeline(in(), count(2, 32), twice(), sum(), out())).why,
                 "keys of operator 'count' were in 16 groups and are in 32 now"));
  CHECK(contains(change(before, pipeline(in().replicas(2), count(), twice(), sum(), out())).why,
                 "operator 'in' had 1 replicas and has 2 now: it is a source"));
  CHECK(contains(change(before, pipeline(in(), twice("count"), sum(), twice(), out())).why,
                 "operator 'count' had a state for each key and has none now"));
  CHECK(contains(change(before, pipeline(source("sum", Sequence{1, 2}), out())).why,
                 "operator 'sum' was no source and is one now"));
  CHECK(contains(change(before, pipeline(in("a"), twice("b"), sink("c", Forget{}))).why,
                 "no operator has the name of one of the program"));
}

TEST_CASE("each replica gets the part of its operator, and a new one nothing") {
  const Graph before = pipeline(in(), sum(), out());
  store::MemoryStore store;
  snapshot_of(store, before, state::Stage::running);
  const Graph now = pipeline(in(), twice(), sum(), twice("thrice"), out());
  const auto part_of = [&](std::uint32_t node) {
    const auto plan = flow::make_plan(now.shape);
    const auto part = state::read_part(store, 1, now.shape, plan.replicas[node]);
    REQUIRE(part);
    if (!part->plain) return std::string("nothing");
    return std::string(as_text(state::read_plain_part(*part->plain)->state));
  };
  CHECK(part_of(0) == "in");
  CHECK(part_of(1) == "nothing");
  CHECK(part_of(2) == "sum");
  CHECK(part_of(3) == "nothing");
  CHECK(part_of(4) == "out");
}

TEST_CASE("an operator that had ended cannot get items from others") {
  for (const state::Stage stage : {state::Stage::running, state::Stage::ended}) {
    store::MemoryStore store;
    const auto manifest = snapshot_of(store, pipeline(in(), sum(), out()), stage);
    CHECK(state::check_not_ended(store, manifest, {}));
    const auto checked = state::check_not_ended(store, manifest, {"out"});
    CHECK(checked.ok() == (stage == state::Stage::running));
    if (!checked) CHECK(contains(checked.error().message, "operator 'out' had ended"));
  }
}
