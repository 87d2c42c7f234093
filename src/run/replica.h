#pragma once

#include <piracema/graph.h>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "flow/plan.h"
#include "run/aligner.h"
#include "run/back_log.h"
#include "run/cycle_end.h"
#include "run/outbox.h"
#include "run/port.h"
#include "run/reorder.h"

namespace piracema::runtime {

/// What a replica has done since it began; others may read it at any time.
struct Counters {
  std::atomic<std::uint64_t> items_in{0}, items_out{0}, bytes_in{0}, bytes_out{0}, busy_ns{0};
  std::atomic<std::uint32_t> read_ppm{0};
  void clear();
};

/// What a replica begins with.
struct Beginning {
  Context context;
  /// The state in `snapshot`; none at the beginning of the stream.
  std::optional<Buffer> state;
  SnapshotId snapshot = 0;
  /// Identifiers of items to pass by.
  std::unordered_set<std::uint64_t> skips;
  /// Replicas of the same process: what goes to them need not travel.
  std::unordered_set<ReplicaId> neighbours;
  /// How much of what comes by back edges may wait. More is an error: nobody in a cycle waits for
  /// room, as all would wait for each other.
  std::size_t back_bytes_max = std::size_t{1} << 30;
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
  /// A source takes a snapshot; one that has ended saves what it has.
  void trigger(SnapshotId snapshot) { triggers_.push_back(snapshot); }
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

 private:
  struct Incoming {
    std::size_t input;
    Packet packet;
  };
  enum class Stage : std::uint8_t { running, ended, cycle_ended };

  template <class Call>
  bool guarded(const char* what, Call call);
  void fail(std::optional<std::uint64_t> item, std::string why);

  Result<Done> restore(Bytes part);
  void receive_back(std::size_t input, Packet packet);
  bool is_blocked(std::size_t input) const;
  Next produce();
  void handle(Incoming incoming);
  void take(std::size_t input, Batch batch);
  std::uint64_t process(const Batch& batch);
  void note_output();
  void release(ReplicaId origin, std::uint64_t sequence);
  void give_credit(std::size_t input, std::uint64_t ns);
  void on_end(std::size_t input);
  void on_aligned(std::optional<SnapshotId> snapshot);
  void snapshot(SnapshotId snapshot);
  void save_complete();
  void release_held();
  void send_round(std::optional<Probe> probe);
  void finish();
  bool serve_requests();
  void count_out();
  std::uint64_t time_since(Time start);
  void linger(Time now);

  const ReplicaId self_;
  const flow::ReplicaPlan plan_;
  const NodeShape& node_;
  const std::function<std::unique_ptr<Operator>()>& make_;
  Beginning beginning_;
  Port& port_;
  Counters& counters_;
  std::atomic<std::uint64_t> own_at_work_;
  std::atomic<std::uint64_t>& at_work_;

  std::unique_ptr<Operator> operator_;
  Outbox outbox_;

  std::deque<Incoming> inbox_;
  /// What came by back edges. It goes first, so that a cycle does not fill up.
  std::deque<Incoming> back_inbox_;
  std::size_t back_bytes_ = 0;
  std::vector<std::deque<Packet>> held_;
  Aligner aligner_;
  BackLog back_log_;
  /// The number of each back edge among them, for `back_log_`.
  std::vector<std::size_t> back_number_;
  std::optional<CycleEnd> cycle_;
  std::size_t open_inputs_;
  Reorder reorder_;
  std::vector<std::uint32_t> granted_;
  /// Batches done for which no credit went back yet.
  std::vector<std::uint32_t> unsaid_;
  std::vector<CreditPace> paces_;
  std::uint64_t ns_per_item_ = 0;
  std::unordered_map<ReplicaId, std::uint64_t> released_;

  std::deque<SnapshotId> triggers_;
  std::deque<SnapshotId> commits_;
  SnapshotId last_saved_ = 0;
  std::int64_t produce_items_ = 1;
  /// Items that a node which is a whole program has made.
  std::uint64_t consumed_ = 0;
  Time flushed_{};
  bool had_output_ = false;
  bool ended_ = false;
  /// A head: its outputs into the cycle have ended, and it waits for what is left to come back.
  bool cycle_ended_ = false;
  bool failed_ = false;
};

}  // namespace piracema::runtime
