#pragma once

#include <piracema/batch.h>
#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstddef>
#include <optional>

#include "flow/plan.h"
#include "run/barrier/cycle_end.h"
#include "run/packet/inbox.h"
#include "run/packet/packet.h"
#include "run/sending/outbox.h"

namespace piracema::runtime {

/// A replica as part of a cycle, if it is in one: how much of what came back to its head waits, and
/// how the cycle ends.
class ReplicaCycle {
 public:
  /// `plan` and `outbox` outlive it.
  ReplicaCycle(const flow::ReplicaPlan& plan, Outbox& outbox);

  // ---- a head: what comes by back edges
  /// A batch has come, and waits. False if more waits now than `bytes_max`.
  bool came_back(const Batch& batch, std::size_t bytes_max);
  /// It is being worked on.
  void took_back(const Batch& batch);
  /// What was under way in the snapshot that is gone on from: it comes first.
  Result<Done> restore_log(Bytes log, Inbox& inbox);

  // ---- its end
  /// Items came by an input of the cycle.
  void on_items() { end_->on_items(); }
  void on_probe(std::size_t input, const Probe& probe) { send_round(end_->on_probe(input, probe)); }
  /// By any input, of a cycle or not.
  void on_end(std::size_t input) {
    if (end_) send_round(end_->on_end(input));
  }
  /// What had met items goes round again, if all that was sent into the cycle is done.
  void send_held_probe();
  /// A head: its outputs into the cycle have ended, and it waits for what is left to come back.
  bool has_ended() const { return ended_; }
  /// It had, or had not, in the snapshot that is gone on from.
  void restore_ended(bool ended) { ended_ = ended; }

 private:
  void send_round(std::optional<Probe> probe);

  const flow::ReplicaPlan& plan_;
  Outbox& outbox_;
  /// None outside of cycles.
  std::optional<CycleEnd> end_;
  std::optional<Probe> held_probe_;
  /// What came by back edges and waits.
  std::size_t back_bytes_ = 0;
  bool ended_ = false;
};

}  // namespace piracema::runtime
