#pragma once

#include <piracema/graph.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "flow/plan.h"
#include "run/packet/port.h"
#include "run/sending/broadcast_pace.h"
#include "run/sending/pace.h"

namespace piracema::runtime {

/// What a replica that sends is told of where others are, and of how to send.
struct Surroundings {
  /// Identifiers of items to pass by.
  std::unordered_set<std::uint64_t> skips;
  /// Replicas of the same process: what goes to them need not travel.
  std::unordered_set<ReplicaId> neighbours;
  /// Items in a batch to a replica, whatever its edge has. An output whose batches may go to
  /// several of these has the least.
  std::unordered_map<ReplicaId, std::uint32_t> batches;
};

/// The sending side of a replica: lanes that items collect in, batches that wait for a credit,
/// and the choice of who gets them. Barriers and the end of the stream keep their place between
/// the batches of each output.
class Outbox final : public Output {
 public:
  /// Deliveries and routers are those of the graph's edges.
  Outbox(ReplicaId self, const flow::ReplicaPlan& plan, const Graph& graph,
         const Surroundings& surroundings, Port& port, std::atomic<std::uint64_t>* at_work);

  // ---- the operator's calls lie between these
  /// What is emitted until `end_batch` comes from `batch`.
  void begin_batch(const Batch& batch);
  /// In an order, exactly what came from the batch leaves under its number, be it nothing.
  void end_batch();
  /// What is emitted from now on comes from no batch, and has no place in an order.
  void begin_finish();
  /// A source may begin `items` items, and go on until `until`, before it returns.
  void begin_produce(std::int64_t items, Time until);
  /// How many of them are left, if no lane was full.
  std::int64_t left_to_produce() const { return budget_ + budget_later_; }

  /// Closes the lanes that hold something, full or not.
  void flush();
  /// The same for those that can leave at once: what cannot goes on collecting. With a time, only
  /// on outputs where that was not asked for as long as items may wait.
  void flush_if_asked(std::optional<Time> now = std::nullopt);
  /// The same for those whose receiver has nothing to do: what others may get goes on collecting.
  void flush_to_idle();
  /// It waits behind what was emitted, until `deadline` if the owner sees to that (`overtake`).
  void barrier(SnapshotId snapshot, SnapshotId complete = 0, Time deadline = Barrier::forever);
  /// Nothing follows on any output, or on those that lead into the cycle of the replica.
  void end();
  void end_cycle();
  /// Round the cycle.
  void probe(const Probe& probe);
  /// Something that was emitted into the cycle of the replica is not done yet by who got it.
  bool is_busy_in_cycle() const;
  /// Something was emitted by an output that had ended.
  bool emitted_after_end() const { return emitted_after_end_; }

  /// A barrier of it, or of one before it, has not left.
  bool holds_barrier(SnapshotId snapshot) const;
  /// These barriers leave now: `passed(lane, batch)` is called for what that of `snapshot` passes,
  /// for each output in its order.
  template <class Passed>
  void overtake(SnapshotId snapshot, const Passed& passed);
  /// A batch that a barrier passed in the snapshot that is gone on from. False if there is no such
  /// lane.
  bool restore(std::size_t lane, Batch batch);
  /// A barrier that came waits for the operator to return: from `deadline` on it does not wait for
  /// room if that takes no more than some MiB. None: no barrier waits.
  void hurry(std::optional<Time> deadline) { hurry_ = deadline; }

  void on_credit(ReplicaId from, const Credit& credit);
  void on_release(ReplicaId from, std::uint64_t sequence);

  /// Sends what may be sent.
  void pump();
  /// Nothing more should be emitted before a credit or a release comes.
  bool must_wait() const { return is_over(0); }
  /// Some lane holds items.
  bool has_open_lane() const;

  /// Time spent waiting for room since it was asked last.
  Time take_waited() { return std::exchange(waited_, Time{}); }

  std::uint64_t downstream_ns_per_item() const;
  std::uint64_t items_sent() const { return items_sent_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  /// Leaves when all before it have left.
  struct Waiting {
    std::size_t lane;
    Packet packet;
    /// Of a barrier.
    Time deadline{};
  };
  struct Broadcast {
    std::uint32_t node = 0;
    /// Packets that have left.
    std::uint64_t sent = 0;
    BroadcastPace pace;
  };
  /// One output, as far as batches are concerned; `ways_` has the rest.
  struct Exit {
    std::optional<std::uint32_t> order;
    bool in_cycle = false;
    bool ended = false;
    /// A batch may go to several receivers, so that several wait at once.
    bool splits = false;
    /// Where all receivers get all that leaves.
    std::optional<Broadcast> broadcast;
    BatchPace pace;
    /// How long an item waits for company at most, and since when.
    Time linger{};
    Time flushed{};
    std::deque<Waiting> waiting;
    std::size_t waiting_batches = 0;
    /// Whose turn it is; by round robin those of the same process have a turn of their own.
    std::size_t turn = 0;
    std::size_t near_turn = 0;
  };
  /// One receiver, by the number of its lane. The lanes for any receiver have none.
  struct Receiver {
    ReplicaId replica = 0;
    std::uint32_t output = 0;
    std::uint32_t credits = 0;
    /// Batches that it has got and not yet said to have done.
    std::uint64_t outstanding = 0;
    /// In the same process.
    bool near = false;

    bool is_idle() const { return credits != 0 && outstanding == 0; }
    /// What counts when somebody is chosen: with as little to do, one that is near goes first.
    std::uint64_t load() const { return outstanding + (near ? 0 : 1); }
  };

  void add_output(const flow::OutputPlan& plan, const Graph& graph,
                  const Surroundings& surroundings);
  void lane_full(std::size_t lane) override;
  bool refill() override;
  bool skip(Bytes item) override;

  /// More is on its way or waiting than allowed, and by more than `slack` batches.
  bool is_over(std::uint64_t slack) const;
  void wait_for_room(std::uint64_t slack);
  bool is_open(std::uint32_t output) const;
  void close_lane(std::uint32_t output, std::size_t lane, const Order& order);
  void close_output(std::uint32_t output);
  void close_ordered();
  void close_order(std::uint32_t first_output);
  void put(std::uint32_t output, Packet packet);
  void end_output(std::uint32_t output);
  void pump(std::uint32_t output);
  bool send_front(std::uint32_t output);
  bool send_batch(std::uint32_t output, Waiting& waiting);
  bool send_batch_to_all(std::uint32_t output, Waiting& waiting);
  void send_to_all(std::uint32_t output, Packet packet);
  std::optional<std::size_t> least_busy(std::uint32_t output) const;
  std::optional<std::size_t> next_in_turn(std::uint32_t output) const;
  void send_to(std::size_t lane, Batch batch);
  void spend_credit(std::size_t lane);
  void set_limits(std::uint32_t output);
  std::uint32_t outputs() const { return static_cast<std::uint32_t>(exits_.size()); }

  ReplicaId self_;
  const flow::ReplicaPlan plan_;
  Port& port_;
  std::unordered_set<std::uint64_t> to_skip_;

  std::vector<Exit> exits_;
  std::vector<Receiver> receivers_;
  std::unordered_map<ReplicaId, std::size_t> lane_of_;

  Time waited_{};
  std::optional<Time> hurry_;
  /// What a source may begin beyond `budget_`, and until when.
  std::int64_t budget_later_ = 0;
  Time produce_until_{};
  /// Items of this call after which the clock is looked at next.
  std::int64_t looked_after_ = 0;

  const bool orders_;
  Order order_;
  /// What each end of the order has taken.
  std::unordered_map<ReplicaId, std::uint64_t> released_;
  std::uint64_t released_by_all_ = 0;
  bool emitted_after_end_ = false;

  std::uint64_t items_sent_ = 0;
  std::uint64_t bytes_sent_ = 0;
  /// Of batches that have not left.
  std::uint64_t bytes_waiting_ = 0;
};

template <class Passed>
void Outbox::overtake(SnapshotId snapshot, const Passed& passed) {
  for (Exit& exit : exits_) {
    const auto is_early = [snapshot](const Waiting& waiting) {
      const auto* barrier = std::get_if<Barrier>(&waiting.packet);
      return barrier != nullptr && barrier->snapshot <= snapshot;
    };
    const auto last = std::find_if(exit.waiting.rbegin(), exit.waiting.rend(), is_early);
    if (last == exit.waiting.rend()) continue;
    // One that was given up may be among them: it is in the way, and passes the same batches.
    const auto behind = std::stable_partition(
        exit.waiting.begin(), last.base(),
        [&](const Waiting& waiting) { return std::holds_alternative<Barrier>(waiting.packet); });
    for (auto waiting = behind; waiting != last.base(); ++waiting) {
      passed(waiting->lane, std::get<Batch>(waiting->packet));
    }
  }
  pump();
}

}  // namespace piracema::runtime
