#pragma once

#include <doctest/doctest.h>
#include <piracema/blocks.h>
#include <piracema/sequence.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/engine.h"
#include "base/random.h"
#include "flow/plan.h"
#include "state/group_ranges.h"
#include "state/keyed_saver.h"
#include "state/redistribution.h"
#include "state/restored_part.h"
#include "state/states_ahead.h"
#include "store/snapshot/memory_store.h"

/// Increments of keys against one map: whatever is written and erased, given up, merged, cleaned
/// and shared out to other numbers of replicas, wherever the states lie.
namespace piracema::state::testing {

using Model = std::map<std::int64_t, std::int64_t>;
inline constexpr KeyGroups groups(16);

inline std::uint64_t mixed(std::int64_t key) { return mix(KeyHash<std::int64_t>::of(key)); }

/// Whose states `V` are of the key that `key_of` makes of an item.
template <class V = std::int64_t>
Graph graph_of(std::uint32_t replicas, std::int64_t (*key_of)(std::int64_t) = nullptr) {
  return pipeline(
      source("in", Sequence{1, 10}),
      farm("count", replicas, [](const std::int64_t& n, V&) { return n; })
          .by_key([key_of](const std::int64_t& n) { return key_of == nullptr ? n : key_of(n); },
                  16),
      sink("drop", [](const std::int64_t&) {}));
}

/// Of the key whose group `key` is in: of another one if `Table` has several in the state of one.
template <class Table>
std::uint64_t mixed_in(std::int64_t key) {
  if constexpr (requires { Table::key_of(key); }) return mixed(Table::key_of(key));
  return mixed(key);
}

/// In which `Table` has states as KeyedTable has them, and gives them to be saved by `states()`.
template <class Table>
struct OneReplica {
  OneReplica(ReplicaId number, const flow::ReplicaPlan& of_plan) : id(number), plan(of_plan) {
    table.states().own(plan.groups, plan.owned);
  }
  bool owns(std::int64_t key) const {
    return plan.owned.has(plan.groups.group_of(mixed_in<Table>(key)));
  }

  ReplicaId id;
  flow::ReplicaPlan plan;
  Table table;
  KeyedSaver saver{id, plan.groups, table.states(), 2'000};
};

/// All replicas of a job, and the store that it goes on from.
template <class Table>
class Job {
 public:
  explicit Job(std::uint64_t seed) : random_(seed) { start(1); }

  void change(std::uint64_t count) {
    for (; count != 0; --count) {
      const auto key = static_cast<std::int64_t>(random_.below(keys_));
      if (random_.chance(erased_)) {
        of(key).table.erase(key, mixed_in<Table>(key));
        model_.erase(key);
      } else {
        const auto value = static_cast<std::int64_t>(random_.next());
        of(key).table.edit(key, mixed_in<Table>(key)) = value;
        model_[key] = value;
      }
    }
  }

  /// It may be given up on the way, or when it is saved.
  void snapshot() {
    const SnapshotId snapshot = ++last_;
    const Model frozen = model_;
    store::Manifest manifest{
        .snapshot = snapshot, .epoch = 1, .job = "job", .nodes = nodes_of(graph_.shape)};
    std::map<ReplicaId, Buffer> data;
    for (auto& replica : replicas_) {
      replica->saver.freeze(snapshot, complete_);
      replica->saver.begin({});
    }
    const bool given_up = random_.chance(0.1), quiet = random_.chance(0.3);
    for (auto& replica : replicas_) {
      if (given_up && random_.chance(0.3)) continue;
      Buffer& part = data[replica->id];
      bool more = true;
      while (more) {
        if (!quiet) change(random_.below(6));
        more = replica->saver.go_on();
        const Buffer piece = replica->saver.take_piece();
        part.append(piece.data(), piece.size());
        if (given_up && random_.chance(0.1)) return;
      }
    }
    if (given_up) return;
    for (ReplicaId id = 0; id < plan_.replicas.size(); ++id) {
      store::PartContent content{Buffer(as_bytes("plain"))};
      for (auto& replica : replicas_) {
        if (replica->id != id) continue;
        content = replica->saver.take();
        data[id].append(content.data.data(), content.data.size());
        content.data = std::move(data[id]);
        content.before = 0;
        written_ += content.data.size();
      }
      const auto part = store_.put_content(snapshot, id, content);
      REQUIRE(part);
      CHECK(part->files.size() < 4 * SavedFiles::files_max);
      manifest.parts.push_back(*part);
    }
    if (random_.chance(0.1)) {  // Saved, and never complete.
      REQUIRE(store_.drop(snapshot));
      return;
    }
    REQUIRE(store_.commit(manifest));
    if (complete_ != 0 && random_.chance(0.8)) REQUIRE(store_.drop(complete_));
    complete_ = snapshot;
    at_snapshot_ = frozen;
  }

  /// Reads from the last complete snapshot what so many replicas would have, and those of now have
  /// not; more of it each time. It may be stopped on the way.
  void read_ahead(std::uint32_t replicas) {
    if (complete_ == 0 || !replicas_.front()->table.states().can_join()) return;
    const auto graph = std::make_shared<const Graph>(graph_for(replicas));
    std::map<std::uint32_t, std::unique_ptr<StatesAhead>> wanted;
    for (const flow::ReplicaPlan& next : flow::make_plan(graph->shape).replicas) {
      if (next.owned.count() == 0) continue;
      GroupRange now;
      for (const auto& replica : replicas_) {
        if (replica->plan.index == next.index) now = replica->plan.owned;
      }
      const auto missing = rest_of(next.owned, now);
      if (missing.empty()) continue;
      auto& states = wanted[next.index];
      states = std::move(ahead_[next.index]);
      if (!states || states->groups() != missing.front()) {
        states = std::make_unique<StatesAhead>(graph, next, missing.front());
      }
      const auto read = states->go_to(store_, complete_, [this] { return random_.chance(0.0005); });
      REQUIRE(read);
    }
    ahead_ = std::move(wanted);
  }

  /// Goes on from the last complete snapshot, with so many replicas; some that were there before go
  /// on with what they have, as far as it is still that, and with what was read ahead.
  void resume(std::uint32_t replicas) {
    if (complete_ == 0) return;
    const auto ahead = std::exchange(ahead_, {});
    std::map<std::uint32_t, std::unique_ptr<KeptStates>> kept;
    for (auto& former : replicas_) {
      if (random_.chance(0.2)) continue;  // It is elsewhere from now on.
      auto states = former->saver.keep(former->plan.owned);
      if (states && states->snapshot == complete_) kept[former->plan.index] = std::move(states);
    }
    start(replicas);
    REQUIRE(store::verify(store_, complete_));
    for (auto& replica : replicas_) {
      const auto& states = kept[replica->plan.index];
      std::vector<GroupRange> there;
      if (states) there.push_back(common(states->owned, replica->plan.owned));
      const auto joins = take_ahead(ahead, replica->plan, there);
      const auto part = read_part(store_, complete_, graph_.shape, replica->plan, there);
      REQUIRE(part);
      if (states) {
        kept_ += 1;
        replica->saver.take_over(*states, replica->plan.owned);
      }
      if (joins) {
        ahead_of_time_ += 1;
        replica->saver.join(*joins);
      }
      replica->saver.goes_on_from(part->keys.files);
      REQUIRE(store::read_units(store_, part->keys.units, [&](const auto& unit, Bytes bytes) {
        replica->saver.load(unit, bytes);
        return Result<Done>(Done{});
      }));
      replica->saver.restored(complete_);
    }
    model_ = at_snapshot_;
  }

  void forget_kept() { replicas_.clear(); }

  bool is_right() {
    Model found;
    for (auto& replica : replicas_) {
      // for_each counts as a change of all.
      for (const auto& [key, value] : model_) {
        if (!replica->owns(key)) continue;
        const std::int64_t* const state = replica->table.find(key, mixed_in<Table>(key));
        if (state != nullptr) found[key] = *state;
      }
    }
    std::uint64_t size = 0;
    for (auto& replica : replicas_) {
      if constexpr (requires { replica->table.entries(); }) {
        size += replica->table.entries();
      } else {
        size += replica->table.states().size();
      }
    }
    return found == model_ && size == model_.size();
  }

  Random& random() { return random_; }
  void use(std::uint64_t keys, double erased) {
    keys_ = keys;
    erased_ = erased;
  }
  std::uint64_t written() const { return written_; }
  /// Replicas that went on with what a former one had kept.
  std::uint64_t kept() const { return kept_; }
  /// Replicas that went on with what was read ahead.
  std::uint64_t ahead() const { return ahead_of_time_; }

 private:
  using Ahead = std::map<std::uint32_t, std::unique_ptr<StatesAhead>>;

  // What of it is of this plan, as it is in the snapshot to go on from.
  std::shared_ptr<KeptStates> take_ahead(const Ahead& ahead, const flow::ReplicaPlan& plan,
                                         std::vector<GroupRange>& there) {
    const auto found = ahead.find(plan.index);
    if (found == ahead.end() || found->second->snapshot() == 0) return nullptr;
    const GroupRange held = found->second->groups();
    const bool fits = common(held, plan.owned) == held &&
                      (there.empty() || common(held, there.front()).count() == 0);
    if (!fits) return nullptr;
    const auto read = found->second->go_to(store_, complete_, [] { return false; });
    REQUIRE(read);
    REQUIRE(*read);
    there.push_back(held);
    return found->second->take();
  }

  static Graph graph_for(std::uint32_t replicas) {
    if constexpr (requires { Table::key_of(0); }) {
      return graph_of<typename Table::State>(replicas, &Table::key_of);
    } else {
      return graph_of(replicas);
    }
  }
  void start(std::uint32_t replicas) {
    graph_ = graph_for(replicas);
    plan_ = flow::make_plan(graph_.shape);
    replicas_.clear();
    for (ReplicaId id = 0; id < plan_.replicas.size(); ++id) {
      if (plan_.replicas[id].owned.count() == 0) continue;
      replicas_.push_back(std::make_unique<OneReplica<Table>>(id, plan_.replicas[id]));
    }
  }
  OneReplica<Table>& of(std::int64_t key) {
    for (auto& replica : replicas_) {
      if (replica->owns(key)) return *replica;
    }
    std::abort();
  }

  Random random_;
  std::uint64_t keys_ = 300;
  double erased_ = 0.3;
  Graph graph_;
  flow::Plan plan_;
  std::vector<std::unique_ptr<OneReplica<Table>>> replicas_;
  store::MemoryStore store_;
  Model model_, at_snapshot_;
  SnapshotId last_ = 0, complete_ = 0;
  std::uint64_t written_ = 0, kept_ = 0, ahead_of_time_ = 0;
  /// By the index of the replica that is to come.
  Ahead ahead_;
};

/// What `cases` jobs go through, each of another seed. `reads_ahead`: that can be done.
template <class Table>
void run_jobs(std::uint64_t cases, bool reads_ahead) {
  std::uint64_t kept = 0, ahead = 0;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    CAPTURE(seed);
    Job<Table> job(seed);
    Random& random = job.random();
    const std::uint64_t most = 1 + random.below(60);
    job.use(50 + random.below(1'500), random.chance(0.5) ? 0.4 : 0.02);
    job.change(random.below(2'000));
    std::uint32_t coming = 1;
    const std::uint64_t snapshots = random.chance(0.1) ? 150 : 25;
    for (std::uint64_t i = 0; i < snapshots; ++i) {
      job.snapshot();
      if (random.chance(0.1)) job.resume(1 + static_cast<std::uint32_t>(random.below(4)));
      job.change(random.below(most));
      const auto next = 1 + static_cast<std::uint32_t>(random.below(4));
      if (random.chance(0.3)) coming = next;
      if (random.chance(0.5)) job.read_ahead(coming);
      if (random.chance(0.1)) job.resume(random.chance(0.7) ? coming : next);
    }
    job.resume(1 + static_cast<std::uint32_t>(random.below(4)));
    REQUIRE(job.is_right());
    // From files alone, too, whatever was kept before.
    job.forget_kept();
    job.resume(1 + static_cast<std::uint32_t>(random.below(4)));
    REQUIRE(job.is_right());
    kept += job.kept();
    ahead += job.ahead();
  }
  CHECK(2 * kept > cases);
  if (reads_ahead) CHECK(ahead > cases / 2);
}

}  // namespace piracema::state::testing
