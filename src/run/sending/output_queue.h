#pragma once

#include <piracema/graph.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <variant>

#include "base/clock.h"
#include "flow/plan.h"
#include "run/packet/port.h"
#include "run/sending/broadcast_pace.h"
#include "run/sending/receivers.h"
#include "run/sending/send_options.h"

namespace piracema::runtime {

/// What one output of a replica has to send, in the order in which it leaves: batches wait for the
/// credits of who gets them; barriers, watermarks, probes and the end of the stream go to all
/// receivers as soon as what is before them has left.
class OutputQueue {
 public:
  /// `plan` and `port` outlive it.
  OutputQueue(const flow::OutputPlan& plan, const EdgeShape& edge, const SendOptions& options,
              Port& port);

  bool is_in_cycle() const { return plan_.in_cycle; }
  const Receivers& receivers() const { return receivers_; }

  // ---- what comes in
  /// For a receiver by its index, or for any of them, or all: `receivers().size()`.
  void add(std::size_t receiver, Batch&& batch);
  /// Goes ahead of an end that has not left, and is dropped behind one that has.
  void add(const Barrier& barrier, Time deadline);
  /// In place of the last one, if that waits with nothing behind it. None leaves into a cycle.
  void add(const Watermark& mark);
  void add(const Probe& probe) { waiting_.push_back({receivers_.size(), probe}); }
  /// Nothing follows. May be said twice.
  void end();
  bool has_ended() const { return ended_; }
  void on_credit(std::size_t receiver, const Credit& credit);

  // ---- what waits
  bool is_empty() const { return waiting_.empty(); }
  std::size_t batches() const { return batches_; }
  /// Of these batches.
  std::uint64_t bytes() const { return bytes_; }
  /// A barrier of it, or of one before it, waits.
  bool holds_barrier(SnapshotId snapshot) const;
  /// These barriers go to the front. `passed(receiver, batch)` is called for what that of
  /// `snapshot` passes, in its order.
  template <class Passed>
  void overtake(SnapshotId snapshot, const Passed& passed);

  /// Sends what may be sent.
  void pump() {
    while (!waiting_.empty() && send_front()) waiting_.pop_front();
  }

 private:
  /// Leaves when all before it have left.
  struct Waiting {
    std::size_t receiver;
    Packet packet;
    /// Of a barrier.
    Time deadline{};
  };
  /// Where all receivers get all that leaves.
  struct Broadcast {
    std::uint32_t node = 0;
    /// Packets that have left.
    std::uint64_t sent = 0;
    BroadcastPace pace;
  };

  bool send_front();
  bool send_batch(Waiting& waiting);
  void send_to_all(Packet packet);

  const flow::OutputPlan& plan_;
  Port& port_;
  Receivers receivers_;
  std::optional<Broadcast> broadcast_;
  std::deque<Waiting> waiting_;
  std::size_t batches_ = 0;
  std::uint64_t bytes_ = 0;
  bool ended_ = false;
};

template <class Passed>
void OutputQueue::overtake(SnapshotId snapshot, const Passed& passed) {
  const auto is_early = [snapshot](const Waiting& waiting) {
    const auto* barrier = std::get_if<Barrier>(&waiting.packet);
    return barrier != nullptr && barrier->snapshot <= snapshot;
  };
  const auto last = std::find_if(waiting_.rbegin(), waiting_.rend(), is_early);
  if (last == waiting_.rend()) return;
  // One that was given up may be among them: it is in the way, and passes the same batches.
  const auto behind = std::stable_partition(
      waiting_.begin(), last.base(),
      [&](const Waiting& waiting) { return std::holds_alternative<Barrier>(waiting.packet); });
  for (auto waiting = behind; waiting != last.base(); ++waiting) {
    const auto* batch = std::get_if<Batch>(&waiting->packet);
    if (batch != nullptr) passed(waiting->receiver, *batch);
  }
}

}  // namespace piracema::runtime
