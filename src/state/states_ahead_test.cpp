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

/// One replica that owns all keys, and the snapshots that it takes; two are to come.
struct Growing {
  Growing() { table.own(groups(), former().owned); }

  const flow::ReplicaPlan& former() const { return before.replicas[1]; }
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
  job.write(0, keys, 'a');
  job.save(1);
  const flow::ReplicaPlan& next = job.after.replicas[2];
  state::StatesAhead ahead(job.two, next, next.owned);
  CHECK(reaches(ahead, job.store, 1, never) == true);
  CHECK(ahead.snapshot() == 1);
  job.write(0, keys / 10, 'b');
  job.save(2);
  CHECK(reaches(ahead, job.store, 2, never) == true);
  const auto states = ahead.take();
  REQUIRE(states);
  CHECK(states->snapshot == 2);
  CHECK(states->owned == next.owned);
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
  job.write(0, keys, 'a');
  job.save(1);
  const flow::ReplicaPlan& next = job.after.replicas[2];
  state::StatesAhead ahead(job.two, next, next.owned);
  REQUIRE(reaches(ahead, job.store, 1, never) == true);
  job.write(0, keys, 'b');
  job.save(2);
  CHECK(reaches(ahead, job.store, 2, never) == false);
  CHECK(ahead.snapshot() == 0);
  CHECK(ahead.take() == nullptr);
}

TEST_CASE("reading that is stopped leaves nothing, and begins anew") {
  Growing job;
  job.write(0, keys, 'a');
  job.save(1);
  const flow::ReplicaPlan& next = job.after.replicas[2];
  state::StatesAhead ahead(job.two, next, next.owned);
  int left = 5;
  CHECK(reaches(ahead, job.store, 1, [&] { return left-- == 0; }) == false);
  CHECK(ahead.take() == nullptr);
  CHECK(reaches(ahead, job.store, 1, never) == true);
  CHECK(ahead.take() != nullptr);
}

TEST_CASE("a snapshot that is gone is an error that leaves nothing") {
  Growing job;
  job.write(0, 100, 'a');
  job.save(1);
  const flow::ReplicaPlan& next = job.after.replicas[2];
  state::StatesAhead ahead(job.two, next, next.owned);
  REQUIRE(reaches(ahead, job.store, 1, never) == true);
  CHECK(ahead.go_to(job.store, 7, never).error().code == Errc::not_found);
  CHECK(ahead.snapshot() == 0);
}
