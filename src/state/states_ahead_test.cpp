#include "state/states_ahead.h"

#include <doctest/doctest.h>
#include <piracema/detail/keyed_table.h>

#include <string>

#include "state/keyed_job_testing.h"

using namespace piracema;
using namespace piracema::state::testing;

namespace {

constexpr std::int64_t keys = 3'000;
constexpr std::size_t value_bytes = 1'000;

/// One replica that owns all keys, and the snapshots that it takes, of which there is one; two are
/// to come.
struct Growing {
  Growing() {
    table.own(groups(), former().owned);
    write(0, keys, 'a');
    save(1);
  }

  const flow::ReplicaPlan& former() const { return before.replicas[1]; }
  const flow::ReplicaPlan& next() const { return after.replicas[2]; }
  KeyGroups groups() const { return former().groups; }
  void write(std::int64_t from, std::int64_t to, char letter) {
    for (std::int64_t key = from; key < to; ++key) {
      table.edit(key, mixed(key)).assign(value_bytes, letter);
    }
  }
  void save(SnapshotId snapshot) {
    saver.freeze(snapshot, snapshot - 1);
    saver.begin({});
    while (saver.go_on()) {
    }
    store::Manifest manifest{
        .snapshot = snapshot, .epoch = 1, .job = "job", .nodes = state::nodes_of(one->shape)};
    for (ReplicaId id = 0; id < 3; ++id) {
      const auto part = id == former_id ? store.put_content(snapshot, id, saver.take())
                                        : store.put(snapshot, id, Buffer(as_bytes("plain")));
      REQUIRE(part);
      manifest.parts.push_back(*part);
    }
    REQUIRE(store.commit(manifest));
  }

  static constexpr ReplicaId former_id = 1;
  const std::shared_ptr<const Graph> one = std::make_shared<const Graph>(graph_of<std::string>(1));
  const std::shared_ptr<const Graph> two = std::make_shared<const Graph>(graph_of<std::string>(2));
  const flow::Plan before = flow::make_plan(one->shape), after = flow::make_plan(two->shape);
  detail::KeyedTable<std::int64_t, std::string> table;
  state::KeyedSaver saver{former_id, groups(), table};
  store::MemoryStore store;
  state::StatesAhead ahead{two, next(), next().owned};
};

bool never() { return false; }

bool reaches(state::StatesAhead& ahead, store::SnapshotStore& store, SnapshotId snapshot,
             const std::function<bool()>& stop) {
  const auto there = ahead.go_to(store, snapshot, stop);
  REQUIRE(there);
  return *there;
}

}  // namespace

TEST_CASE("states that are read ahead are as in the snapshot, and then as in the next one") {
  Growing job;
  CHECK(reaches(job.ahead, job.store, 1, never) == true);
  CHECK(job.ahead.snapshot() == 1);
  job.write(0, keys / 10, 'b');
  job.save(2);
  CHECK(reaches(job.ahead, job.store, 2, never) == true);
  const auto states = job.ahead.take();
  REQUIRE(states);
  CHECK(states->snapshot == 2);
  CHECK(states->owned == job.next().owned);
  auto& table = dynamic_cast<detail::KeyedTable<std::int64_t, std::string>&>(*states->states);
  std::int64_t found = 0;
  table.for_each([&](std::int64_t key, const std::string& value) {
    found += value == std::string(value_bytes, key < keys / 10 ? 'b' : 'a') ? 1 : 0;
  });
  CHECK(found == static_cast<std::int64_t>(table.size()));
  CHECK(found > keys / 3);
}

TEST_CASE("what changes faster than it is read is not read ahead") {
  Growing job;
  REQUIRE(reaches(job.ahead, job.store, 1, never) == true);
  job.write(0, keys, 'b');
  job.save(2);
  CHECK(reaches(job.ahead, job.store, 2, never) == false);
  CHECK(job.ahead.snapshot() == 0);
  CHECK(job.ahead.take() == nullptr);
}

TEST_CASE("reading that is stopped leaves nothing, and begins anew") {
  Growing job;
  int left = 5;
  CHECK(reaches(job.ahead, job.store, 1, [&] { return left-- == 0; }) == false);
  CHECK(job.ahead.take() == nullptr);
  CHECK(reaches(job.ahead, job.store, 1, never) == true);
  CHECK(job.ahead.take() != nullptr);
}

TEST_CASE("a snapshot that is gone is an error that leaves nothing") {
  Growing job;
  REQUIRE(reaches(job.ahead, job.store, 1, never) == true);
  CHECK(job.ahead.go_to(job.store, 7, never).error().code == Errc::not_found);
  CHECK(job.ahead.snapshot() == 0);
}

TEST_CASE("of a node that is new in this version of the program a former snapshot has nothing") {
  Growing job;
  store::Manifest manifest{.snapshot = 2, .epoch = 1, .job = "job"};
  for (const store::NodeParts& node : state::nodes_of(job.one->shape)) {
    if (node.name != "count") manifest.nodes.push_back(node);
  }
  for (ReplicaId id = 0; id < manifest.nodes.size(); ++id) {
    const auto part = job.store.put(2, id, Buffer(as_bytes("plain")));
    REQUIRE(part);
    manifest.parts.push_back(*part);
  }
  REQUIRE(job.store.commit(manifest));
  CHECK(reaches(job.ahead, job.store, 2, never) == true);
  const auto states = job.ahead.take();
  REQUIRE(states);
  CHECK(states->states->size() == 0);
}
