#include "run/replica/replica_cycle.h"

#include <utility>
#include <vector>

#include "base/text.h"
#include "run/barrier/batch_log.h"
#include "wire/reader.h"

namespace piracema::runtime {

namespace {

// What a batch takes while it waits: its items, and about so much besides.
std::size_t weight(const Batch& batch) {
  return batch.data.size() + 8 * batch.ids.size() + sizeof(Batch);
}

}  // namespace

ReplicaCycle::ReplicaCycle(const flow::ReplicaPlan& plan, Outbox& outbox)
    : plan_(plan), outbox_(outbox) {
  if (plan.heads == 0) return;
  std::vector<bool> in_cycle;
  for (const flow::InputPlan& input : plan.inputs) in_cycle.push_back(input.in_cycle);
  end_.emplace(std::move(in_cycle), plan.is_head, plan.heads);
}

bool ReplicaCycle::came_back(const Batch& batch, std::size_t bytes_max) {
  back_bytes_ += weight(batch);
  return back_bytes_ <= bytes_max;
}

void ReplicaCycle::took_back(const Batch& batch) { back_bytes_ -= weight(batch); }

Result<Done> ReplicaCycle::restore_log(Bytes bytes, Inbox& inbox) {
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
    inbox.put(*input, std::move(logged.batch));
  }
  return Done{};
}

void ReplicaCycle::send_round(std::optional<Probe> probe) {
  if (ended_) return;
  for (; probe; probe = end_->go_on()) {
    if (held_probe_) outbox_.probe(*std::exchange(held_probe_, std::nullopt));
    // After a round that met items the next one would meet them again, as often as they go round:
    // it waits until all that was sent into the cycle is done.
    if (plan_.is_head && probe->round > 1 && probe->quiet == 0) {
      held_probe_ = probe;
    } else {
      outbox_.probe(*probe);
    }
  }
  if (!end_->is_empty()) return;
  ended_ = true;
  held_probe_.reset();
  outbox_.end_cycle();
}

void ReplicaCycle::send_held_probe() {
  if (!held_probe_ || outbox_.is_busy_in_cycle()) return;
  outbox_.probe(*std::exchange(held_probe_, std::nullopt));
}

}  // namespace piracema::runtime
