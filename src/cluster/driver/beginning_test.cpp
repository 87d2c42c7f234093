#include "cluster/driver/beginning.h"

#include <doctest/doctest.h>

#include <fstream>

#include "base/testing.h"
#include "cluster/driver/program_check.h"
#include "control/messages/control.h"
#include "store/snapshot/directory_store.h"

using namespace piracema;
using namespace piracema::cluster;

namespace {

std::string graph_named(const std::string& node) {
  GraphShape shape;
  shape.nodes = {{.name = node, .role = Role::source}, {.name = "out", .role = Role::sink}};
  shape.edges = {{.from = 0, .to = 1}};
  return runtime::encode_shape(shape);
}

GraphShape keyed_shape(std::uint32_t replicas = 2) {
  GraphShape shape;
  shape.nodes = {{.name = "in", .role = Role::source},
                 {.name = "count", .replicas = replicas},
                 {.name = "out", .role = Role::sink}};
  shape.edges = {{.from = 0, .to = 1, .delivery = Delivery::by_key, .key_groups = 1'024},
                 {.from = 1, .to = 2}};
  return shape;
}
// As a version before there were key groups said it.
std::string old_graph(GraphShape shape) {
  for (EdgeShape& edge : shape.edges) edge.key_groups = 0;
  return runtime::encode_shape(shape);
}

// A directory of snapshots of a run that had come so far.
struct Directory {
  testing::ScratchDirectory scratch;
  std::string path = scratch.path() + "/snapshots";

  void add(SnapshotId snapshot, bool finished = false,
           std::map<std::string, std::string> layouts = {},
           const std::string& graph = graph_named("in")) {
    auto store = *store::open_directory_store(path, true);
    auto part = store->put(snapshot, 0, as_bytes("state"));
    REQUIRE(part.ok());
    REQUIRE(store
                ->commit({.snapshot = snapshot,
                          .epoch = 1,
                          .job = graph,
                          .layouts = std::move(layouts),
                          .finished = finished,
                          .parts = {*part}})
                .ok());
  }
  void damage(SnapshotId snapshot) {
    std::string number = std::to_string(snapshot);
    number.insert(0, 12 - number.size(), '0');
    std::ofstream(path + "/" + number + "/part-0000") << "something else";
  }
};

std::string refusal(const Result<Beginning>& beginning, Errc code) {
  REQUIRE_FALSE(beginning.ok());
  CHECK(beginning.error().code == code);
  return beginning.error().message;
}
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a job begins in a new directory, and keeps every other job out of it") {
  Directory directory;
  const auto beginning = begin_in(directory.path, Start::anew, 1);
  REQUIRE(beginning.ok());
  CHECK_FALSE(beginning->newest.has_value());
  CHECK(accept_job(*beginning, graph_named("in")).ok());

  refusal(begin_in(directory.path, Start::anew, 1), Errc::config);
}

TEST_CASE("a run that has not ended is resumed or left alone, never begun anew") {
  Directory directory;
  directory.add(7);
  CHECK(contains(refusal(begin_in(directory.path, Start::anew, 1), Errc::config), "--resume"));

  const auto resumed = begin_in(directory.path, Start::resume, 1);
  REQUIRE(resumed.ok());
  CHECK(resumed->newest->snapshot == 7);
  CHECK(resumed->found == std::vector<SnapshotId>{7});
  CHECK(accept_job(*resumed, graph_named("in")).ok());
  CHECK(resumed->store->list()->size() == 1);
}

TEST_CASE("a savepoint is gone on from, and newer snapshots go only if that is asked for") {
  Directory directory;
  for (const SnapshotId snapshot : {5, 7, 9}) directory.add(snapshot);
  auto store = *store::open_directory_store(directory.path, false);
  REQUIRE(store->add_savepoint("early", 5));
  REQUIRE(store->drop(5));
  const auto from = [&](const char* name, bool discard) {
    return begin_in(directory.path, Start::resume, 1, {}, {name, discard});
  };
  CHECK(contains(refusal(from("none", true), Errc::config), "found early"));
  CHECK(contains(refusal(from("early", false), Errc::config), "are snapshots 7, 9; --discard"));
  {
    const auto other = from("early", true);
    REQUIRE(other);
    CHECK_FALSE(accept_job(*other, graph_named("other")));
    CHECK(store->list()->size() == 3);
  }
  {
    const auto resumed = from("early", true);
    REQUIRE(resumed);
    CHECK(resumed->newest->snapshot == 5);
    CHECK(accept_job(*resumed, graph_named("in")));
    CHECK(*store->list() == std::vector<SnapshotId>{5});
  }
  // It is the job's again: it goes when its turn comes, not with its name.
  REQUIRE(store->delete_savepoint("early"));
  REQUIRE(store->drop_released());
  CHECK(*store->list() == std::vector<SnapshotId>{5});
}

TEST_CASE("nobody goes back behind a savepoint, nor begins anew beside one") {
  Directory directory;
  for (const SnapshotId snapshot : {5, 7}) directory.add(snapshot, snapshot == 7);
  auto store = *store::open_directory_store(directory.path, false);
  REQUIRE(store->add_savepoint("early", 5));
  REQUIRE(store->add_savepoint("late", 7));
  CHECK(contains(
      refusal(begin_in(directory.path, Start::resume, 1, {}, {"early", true}), Errc::config),
      "savepoint 'late' is newer than 'early'"));
  CHECK(contains(refusal(begin_in(directory.path, Start::anew, 1), Errc::config),
                 "has savepoint 'early' of the run before"));
}

TEST_CASE("a savepoint that is damaged is no reason to go on from another snapshot") {
  Directory directory;
  for (const SnapshotId snapshot : {5, 7}) directory.add(snapshot);
  auto store = *store::open_directory_store(directory.path, false);
  REQUIRE(store->add_savepoint("last", 7));
  directory.damage(7);
  CHECK(contains(refusal(begin_in(directory.path, Start::resume, 1, {}, {"last"}), Errc::lost),
                 "savepoint 'last': "));
}

TEST_CASE("snapshots of another program are refused, and stay") {
  Directory directory;
  directory.add(7, true);
  for (const bool resume : {false, true}) {
    const auto beginning = begin_in(directory.path, resume ? Start::resume : Start::anew, 1);
    REQUIRE(beginning.ok());
    const auto accepted = accept_job(*beginning, graph_named("other"));
    REQUIRE_FALSE(accepted.ok());
    CHECK(contains(accepted.error().message, "want other > out, found in > out"));
    CHECK(beginning->store->list()->size() == 1);
  }
}

TEST_CASE("a job goes on with as many replicas as it had where its operators can have those") {
  const auto graph_with = [](std::uint32_t replicas) {
    GraphShape shape = keyed_shape(replicas);
    shape.nodes[1].keyed = true;
    return runtime::encode_shape(shape);
  };
  const auto kept_of = [&](std::uint32_t had, std::uint32_t has, const char* state) {
    Directory directory;
    directory.add(7, false, {{"in", "nothing"}, {"count", state}, {"out", "nothing"}},
                  graph_with(had));
    const auto beginning = begin_in(directory.path, Start::resume, 1);
    REQUIRE(beginning.ok());
    const std::string program = graph_with(has);
    const Replicas kept = kept_replicas(*beginning, program);
    const std::string graph = with_replicas(program, kept);
    CHECK((graph == beginning->newest->job) == (kept.size() == 1 || had == has));
    return kept;
  };
  CHECK(kept_of(3, 2, "keys(string, i64)") == Replicas{{"count", 3}});
  CHECK(kept_of(2, 2, "keys(string, i64)").empty());
  // Each replica has a state of its own: that of another number is nobody's.
  CHECK(kept_of(3, 2, "i64").empty());
  Directory directory;
  const auto anew = begin_in(directory.path, Start::anew, 1);
  REQUIRE(anew.ok());
  CHECK(kept_replicas(*anew, graph_named("in")).empty());
}

TEST_CASE("another version of the program goes on only if that is allowed, and from what can be") {
  const MayDiffer may{.program = true, .dropped = {"in"}};
  const auto refusal_of = [&](bool finished, const MayDiffer& may_differ) {
    Directory directory;
    directory.add(7, finished);
    const auto beginning = begin_in(directory.path, Start::resume, 1);
    REQUIRE(beginning.ok());
    const auto accepted = accept_job(*beginning, graph_named("other"), {}, may_differ);
    REQUIRE_FALSE(accepted.ok());
    CHECK(accepted.error().code == Errc::config);
    return accepted.error().message;
  };
  CHECK(contains(refusal_of(false, {}), "--allow-changed-program goes on with the operators"));
  CHECK(contains(refusal_of(true, may), "its job had ended: there is nothing to go on with"));
  CHECK(
      contains(refusal_of(false, may), "its format does not say which state is of which operator"));
}

TEST_CASE(
    "snapshots whose states are of other types are refused with both, unless that is allowed") {
  Directory directory;
  directory.add(7, false, {{"in", "i64"}, {"out", "{map(string, i64)}"}});
  const std::vector<std::string> same{"i64", "{map(string, i64)}"}, unknown{"i64", ""},
      other{"i64", "{map(string, i32)}"}, none;
  const auto beginning = begin_in(directory.path, Start::resume, 1);
  REQUIRE(beginning.ok());
  for (const auto& layouts : {same, unknown, none}) {
    CHECK(accept_job(*beginning, graph_named("in"), {layouts}).ok());
  }
  const auto refused = accept_job(*beginning, graph_named("in"), {other});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Errc::config);
  CHECK(contains(refused.error().message,
                 "in snapshot 7 the state of operator 'out' is of another type: want {map(string, "
                 "i32)}, found {map(string, i64)}; --allow-changed-state"));
  CHECK(accept_job(*beginning, graph_named("in"), {other}, {.states = true}).ok());
  CHECK_FALSE(accept_job(*beginning, graph_named("in"), {{"i64"}}).ok());
}

TEST_CASE(
    "states that the program knows as what they were go on, if nobody could confuse the two") {
  Directory directory;
  directory.add(7, false, {{"in", "i64"}, {"out", "keys(string, i64)"}});
  const auto beginning = begin_in(directory.path, Start::resume, 1);
  REQUIRE(beginning.ok());
  const std::vector<std::string> now{"i64", "keys(string, 16 bytes)"};
  const auto with_former = [&](std::vector<std::string> of_out) {
    return accept_job(*beginning, graph_named("in"), {now, {{}, std::move(of_out)}});
  };
  CHECK(with_former({"keys(string, i64)"}).ok());
  CHECK(with_former({"keys(string, f64)", "keys(string, i64)"}).ok());
  CHECK_FALSE(with_former({"keys(string, f64)"}).ok());
  const auto confused = with_former({"keys(string, 16 bytes)", "keys(string, i64)"});
  REQUIRE_FALSE(confused.ok());
  CHECK(contains(confused.error().message, "are both keys(string, 16 bytes): nobody can tell"));
  CHECK_FALSE(accept_job(*beginning, graph_named("in"), {now, {{}}}).ok());
}

TEST_CASE("snapshots of before there were key groups are refused where keys now go to others") {
  const std::string graph = runtime::encode_shape(keyed_shape());
  {
    Directory directory;
    directory.add(7, false, {{"count", "{map(string, i64)}"}}, old_graph(keyed_shape()));
    const auto beginning = begin_in(directory.path, Start::resume, 1);
    REQUIRE(beginning.ok());
    const auto refused = accept_job(*beginning, graph);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == Errc::config);
    CHECK(contains(refused.error().message,
                   "shared out keys in another way: the 2 replicas of operator 'count'"));
  }
  {
    Directory directory;  // Nothing lies anywhere.
    directory.add(7, false, {{"count", "nothing"}}, old_graph(keyed_shape()));
    const auto beginning = begin_in(directory.path, Start::resume, 1);
    REQUIRE(beginning.ok());
    CHECK(accept_job(*beginning, graph).ok());
    CHECK_FALSE(accept_job(*beginning, graph_named("in")).ok());
  }
  {
    Directory directory;  // All lies with one.
    directory.add(7, false, {}, old_graph(keyed_shape(1)));
    const auto beginning = begin_in(directory.path, Start::resume, 1);
    REQUIRE(beginning.ok());
    CHECK(accept_job(*beginning, runtime::encode_shape(keyed_shape(1))).ok());
    CHECK(contains(accept_job(*beginning, graph).error().message, "found in > count > out"));
  }
  {
    Directory directory;  // Nothing is gone on with.
    directory.add(7, true, {{"count", "{map(string, i64)}"}}, old_graph(keyed_shape()));
    const auto beginning = begin_in(directory.path, Start::anew, 1);
    REQUIRE(beginning.ok());
    CHECK(accept_job(*beginning, graph).ok());
    CHECK(beginning->store->list()->empty());
  }
}

TEST_CASE("what a run that has ended has saved may have been of any type") {
  Directory directory;
  directory.add(7, true, {{"in", "i64"}});
  const auto beginning = begin_in(directory.path, Start::anew, 1);
  REQUIRE(beginning.ok());
  CHECK(accept_job(*beginning, graph_named("in"), {{"i32", ""}}).ok());
}

TEST_CASE("a run that has ended makes place for the next one of the same program") {
  Directory directory;
  directory.add(7);
  directory.add(8, true);
  const auto beginning = begin_in(directory.path, Start::anew, 1);
  REQUIRE(beginning.ok());
  CHECK(accept_job(*beginning, graph_named("in")).ok());
  CHECK(beginning->store->list()->empty());
}

TEST_CASE("a damaged snapshot is passed over for the one before; without one data is lost") {
  Directory directory;
  directory.add(7);
  directory.add(8);
  directory.damage(8);
  {
    const auto beginning = begin_in(directory.path, Start::resume, 1);
    REQUIRE(beginning.ok());
    CHECK(beginning->newest->snapshot == 7);
    CHECK(beginning->found == std::vector<SnapshotId>{7, 8});
  }
  directory.damage(7);
  CHECK(
      contains(refusal(begin_in(directory.path, Start::resume, 1), Errc::lost), "none is intact"));
  CHECK(contains(refusal(begin_in(directory.path, Start::anew, 1), Errc::config),
                 "another directory"));
}

TEST_CASE("nothing to resume, or another thing than a directory of snapshots, is told so") {
  Directory directory;
  refusal(begin_in(directory.path, Start::resume, 1), Errc::config);
  { REQUIRE(begin_in(directory.path, Start::anew, 1).ok()); }
  CHECK(contains(refusal(begin_in(directory.path, Start::resume, 1), Errc::config),
                 "has no snapshot"));

  std::ofstream(directory.scratch.path() + "/file") << "text";
  refusal(begin_in(directory.scratch.path(), Start::anew, 1), Errc::config);
  refusal(begin_in(directory.scratch.path() + "/file", Start::anew, 1), Errc::config);
}
