#pragma once

#include <piracema/graph.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flow/plan.h"
#include "run/barrier/barriers.h"
#include "run/barrier/cycle_end.h"
#include "run/barrier/overtaking.h"
#include "run/barrier/reorder.h"
#include "run/packet/inbox.h"
#include "run/packet/port.h"
#include "run/sending/credit_book.h"
#include "run/sending/outbox.h"
#include "run/sending/send_options.h"
#include "run/sending/source_pace.h"
#include "state/keyed_saver.h"
#include "store/snapshot/snapshot_store.h"

namespace piracema::runtime {

/// What a replica has done since it began; others may read it at any time.
struct Counters {
  std::atomic<std::uint64_t> items_in{0}, items_out{0}, bytes_in{0}, bytes_out{0}, busy_ns{0};
  /// What it has waited for room, up to `blocked_since`: it waits since then, 0 if it does not.
  std::atomic<std::uint64_t> blocked_ns{0};
  std::atomic<std::int64_t> blocked_since{0};
  /// Packets in its inbox.
  std::atomic<std::uint32_t> queued{0};
  std::atomic<std::uint32_t> read_ppm{0};
  /// As in Progress; the replica's thread alone writes.
  std::atomic<std::uint32_t> calls{0};
  void clear();
  bool waits_for_room() const { return blocked_since.load(std::memory_order_relaxed) != 0; }
  /// It waits for room from `now` on, or no longer; a change. Its thread alone.
  void wait_for_room(bool waits, Time now);
  /// With what it is waiting for now. Any thread; a moment of a change may be counted twice or not
  /// at all.
  std::uint64_t blocked_by(Time now) const;
  void in_or_out() {
    calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

/// What a replica begins with.
struct Beginning : SendOptions {
  Context context;
  /// The state in `snapshot`; none at the beginning of the stream.
  std::optional<Buffer> state;
  SnapshotId snapshot = 0;
  /// What the snapshot says that its node's states are made of; empty: nothing.
  std::string layout;
  /// States by key: where they lie, and reads them there.
  std::vector<store::StateUnit> units;
  std::vector<store::NamedFile> files;
  store::SnapshotStore* store = nullptr;
  /// Where states by key are to lie; null: in memory.
  StatePlace* place = nullptr;
  /// States by key that are here already, of this snapshot; null: none.
  std::shared_ptr<state::KeptStates> kept;
  /// How many batches may be on their way from a replica; CreditPace::batches_max if nothing is
  /// said.
  std::unordered_map<ReplicaId, std::uint32_t> on_the_way;
  /// How much of what comes by back edges may wait. More is an error: nobody in a cycle waits for
  /// room, as all would wait for each other.
  std::size_t back_bytes_max = std::size_t{1} << 30;
  /// States by key are handed to who writes them in pieces of so many bytes, and no more are saved
  /// while more than `unwritten_bytes_max` of these are in memory.
  std::size_t piece_bytes = state::KeyedSaver::piece_bytes_usual;
  std::size_t unwritten_bytes_max = std::size_t{8} << 20;

  /// Reads what the replica goes on from, but for what a former replica of the same node and index
  /// has kept, if that is of this snapshot. `from` outlives the replica's `begin`.
  Result<Done> restore(store::SnapshotStore& from, SnapshotId snapshot, const GraphShape& shape,
                       const flow::ReplicaPlan& plan, std::shared_ptr<state::KeptStates> kept);
};

/// One replica of a node: takes packets, runs the user's operator on them, sends packets.
///
/// No thread, clock or socket inside: its thread and the simulator call it alike. Made anew for
/// every epoch, so that nothing of an older one is left in it.
class Replica {
 public:
  /// `graph` and `port` outlive it. `at_work` may be null.
  Replica(ReplicaId self, const flow::ReplicaPlan& plan, const Graph& graph, Beginning beginning,
          Port& port, Counters& counters, std::atomic<std::uint64_t>* at_work);
  ~Replica();

  // ---- what it is told; none of these runs the operator
  void receive(ReplicaId from, Packet packet);
  /// A source takes a snapshot; one that has ended saves what it has. Any other waits for barriers,
  /// or for the ends of what sends to it, if they are all to come. With `hold` a source that has
  /// saved it sends nothing until the next trigger, which may be for the same one.
  /// Its barrier waits behind items for no longer than `patience` in all.
  void trigger(SnapshotId snapshot, SnapshotId complete = 0, bool hold = false,
               Time patience = Barrier::forever);
  /// May be told twice: the operator commits once.
  void commit(SnapshotId snapshot) { commits_.push_back(snapshot); }

  enum class Next {
    again,  ///< There is more to do.
    wait,   ///< Nothing, until it is told something.
    poll,   ///< A source has nothing yet: ask again in a while.
  };
  /// Makes the operator and gives it its state. Once, before all else but `receive`.
  void begin();
  /// Asks for the first items. There is no common start: who has begun gets items from those who
  /// have begun. Once, after `begin`.
  void start();
  /// Does one piece of work: a batch, a barrier, a call of the source. Throws Interrupted.
  Next step();
  /// Its states by key, if they are as a snapshot has them, for the replica that follows it here;
  /// else null. Nothing is called after that.
  std::shared_ptr<state::KeptStates> keep();
  /// How long it may wait at most: a timer of its operator is due then, or a barrier has waited for
  /// long enough.
  std::optional<Time> longest_wait() const;

 private:
  /// States by key are saved for so long between two batches.
  static constexpr Time save_slice = std::chrono::microseconds(200);

  static constexpr std::uint64_t no_item = std::numeric_limits<std::uint64_t>::max();

  template <class Call>
  bool guarded(const char* what, Call call);
  void fail(std::optional<std::uint64_t> item, std::string why);
  void handle(Inbox::Incoming incoming);
  void on_end(std::size_t input);
  void finish();
  bool call_timer();

  Next work();

  // ---- the stream: replica_stream.cpp
  Next produce();
  void flush_produced();
  void count_produced(std::int64_t begun);
  void take(std::size_t input, Batch batch);
  std::uint64_t process(Batch& batch);
  void note_output();
  void release(ReplicaId origin, std::uint64_t sequence);
  void give_credit(std::size_t input, std::uint64_t took);
  std::uint64_t time_since(Time start);
  void count_out();

  // ---- its snapshots: replica_snapshots.cpp
  bool serve_requests();
  /// `missing`: inputs by which its barrier has not come; none of them if it says nothing.
  void snapshot(SnapshotId snapshot, const std::vector<std::size_t>& missing = {});
  Buffer state_part();
  void save_part(SnapshotId snapshot, Buffer part);
  void save_complete();
  void expect(SnapshotId snapshot, Time patience);
  void save_open_part();
  bool overtake();
  std::optional<Time> next_overtaking() const;
  void save_more();
  /// States by key wait to be saved, and what was saved does not wait to be written.
  bool can_save_more() const;
  bool is_held() const {
    return hold_after_ && last_saved_ >= *hold_after_ && is_source(node_.role);
  }
  Result<Done> restore(Bytes part);
  const std::string& layout_of_batches();
  Result<Done> restore_overtaken(Bytes batches);
  Result<Done> load_units();
  void heard_complete(SnapshotId snapshot) { complete_ = std::max(complete_, snapshot); }

  // ---- the cycle that it is part of: replica_cycle.cpp
  void receive_back(std::size_t input, Packet packet);
  void note_back(std::size_t input, const Batch& batch);
  Result<Done> restore_log(Bytes log);
  void send_round(std::optional<Probe> probe);
  void send_held_probe();

  const ReplicaId self_;
  const flow::ReplicaPlan plan_;
  const Graph& graph_;
  const NodeShape& node_;
  const std::function<std::unique_ptr<Operator>()>& make_;
  Beginning beginning_;
  Port& port_;
  Counters& counters_;
  std::atomic<std::uint64_t> own_at_work_;
  std::atomic<std::uint64_t>& at_work_;

  std::unique_ptr<Operator> operator_;
  /// Where the operator has states by key.
  std::optional<state::KeyedSaver> keyed_;
  Inbox inbox_;
  Outbox outbox_;
  CreditBook credits_;
  Reorder reorder_;
  Barriers barriers_;
  Overtaking overtaking_;
  /// Batches of each input that a snapshot had: nobody has used a credit for them.
  std::vector<std::uint32_t> unpaid_;
  std::optional<CycleEnd> cycle_;
  std::optional<Probe> held_probe_;
  /// What came by back edges and waits.
  std::size_t back_bytes_ = 0;
  std::size_t open_inputs_;
  std::unordered_map<ReplicaId, std::uint64_t> released_;

  std::deque<SnapshotId> triggers_;
  std::deque<SnapshotId> commits_;
  std::optional<SnapshotId> last_committed_;
  SnapshotId last_saved_ = 0;
  std::optional<SnapshotId> hold_after_;
  /// A complete snapshot, the newest that it has heard of.
  SnapshotId complete_ = 0;
  std::size_t last_part_bytes_ = 0;
  std::optional<std::string> layout_of_batches_;
  /// Up to the barrier of the part that is open.
  std::uint64_t items_out_at_cut_ = 0;
  std::uint64_t bytes_overtaken_ = 0;
  SourcePace source_;
  /// Items that a node which is a whole program has made.
  std::uint64_t consumed_ = 0;
  bool had_output_ = false;
  bool ended_ = false;
  /// A head: its outputs into the cycle have ended, and it waits for what is left to come back.
  bool cycle_ended_ = false;
  bool failed_ = false;
  bool has_timer_ = false;
  /// As of the last step.
  std::optional<WallTime> timer_;
  /// The last step did so: what has come is not kept waiting by timers that are always due.
  bool called_timer_ = false;
};

// Nothing that a user throws leaves the replica; Interrupted passes through.
template <class Call>
bool Replica::guarded(const char* what, Call call) {
  struct AtWork {
    explicit AtWork(Counters& of) : counters(of) { counters.in_or_out(); }
    ~AtWork() { counters.in_or_out(); }
    Counters& counters;
  } const at_work(counters_);
  try {
    call();
    return true;
  } catch (const StateError& error) {
    // Without an item: another one would fare no better.
    failed_ = true;
    port_.failed(std::nullopt, std::string(what) + ": " + error.what());
  } catch (const std::exception& error) {
    fail(std::nullopt, std::string(what) + ": " + error.what());
  } catch (const Interrupted&) {
    throw;
  } catch (...) {
    fail(std::nullopt, std::string(what) + ": it threw something that is no std::exception");
  }
  return false;
}

}  // namespace piracema::runtime
