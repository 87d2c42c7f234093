// A replica as part of a cycle: what comes back to its head, and how the cycle ends.
#include <utility>

#include "base/text.h"
#include "run/replica/replica.h"
#include "wire/reader.h"

namespace piracema::runtime {

namespace {

// What a batch takes while it waits: its items, and about so much besides.
std::size_t weight(const Batch& batch) {
  return batch.data.size() + 8 * batch.ids.size() + sizeof(Batch);
}

}  // namespace

// In a cycle nobody waits for the head to be done with an item: the head may itself wait for
// somebody in the cycle, inside of `emit`. So the credit goes back at once.
void Replica::receive_back(std::size_t input, Packet packet) {
  if (const auto* batch = std::get_if<Batch>(&packet)) {
    back_bytes_ += weight(*batch);
    if (back_bytes_ > beginning_.back_bytes_max && !failed_) {
      fail(std::nullopt, concat("the cycle of '", node_.name, "': more than ",
                                human_bytes(static_cast<double>(beginning_.back_bytes_max)),
                                " wait to be taken back, so it makes more items than leave it"));
    }
    if (!failed_) give_credit(input, 1);
  }
  inbox_.put(input, std::move(packet));
  counters_.queued.store(inbox_.size(), std::memory_order_relaxed);
}

void Replica::note_back(std::size_t input, const Batch& batch) {
  back_bytes_ -= weight(batch);
  barriers_.on_back_batch(input, plan_.inputs[input].from, batch);
}

// What was under way in the snapshot comes first.
Result<Done> Replica::restore_log(Bytes bytes) {
  wire::Reader reader(bytes);
  auto log = BatchLog::read(reader);
  if (!log) return log.error();
  if (auto finished = reader.finish(); !finished) return finished;
  for (BatchLog::Entry& logged : *log) {
    const auto input = plan_.input_from(logged.where);
    if (!input || !plan_.inputs[*input].back) {
      return Error{Errc::corrupt, concat("it has a batch of replica ", logged.where)};
    }
    back_bytes_ += weight(logged.batch);
    inbox_.put(*input, std::move(logged.batch));
  }
  return Done{};
}

void Replica::send_round(std::optional<Probe> probe) {
  if (cycle_ended_) return;
  for (; probe; probe = cycle_->go_on()) {
    if (held_probe_) outbox_.probe(*std::exchange(held_probe_, std::nullopt));
    // After a round that met items the next one would meet them again, as often as they go round:
    // it waits until all that was sent into the cycle is done.
    if (plan_.is_head && probe->round > 1 && probe->quiet == 0) {
      held_probe_ = probe;
    } else {
      outbox_.probe(*probe);
    }
  }
  if (!cycle_->is_empty()) return;
  cycle_ended_ = true;
  held_probe_.reset();
  outbox_.end_cycle();
}

void Replica::send_held_probe() {
  if (!held_probe_ || outbox_.is_busy_in_cycle()) return;
  outbox_.probe(*std::exchange(held_probe_, std::nullopt));
}

}  // namespace piracema::runtime
