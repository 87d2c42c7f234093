#include "run/replica/replica_snapshots.h"

#include <utility>

#include "base/ensure.h"
#include "base/text.h"
#include "flow/states.h"
#include "run/barrier/batch_log.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::runtime {

using state::Stage;

ReplicaSnapshots::ReplicaSnapshots(const Of& replica)
    : plan_(replica.plan),
      graph_(replica.graph),
      port_(replica.port),
      counters_(replica.counters),
      guard_(replica.guard),
      inbox_(replica.inbox),
      outbox_(replica.outbox),
      reorder_(replica.reorder),
      parts_(replica.parts),
      is_source_(is_source(graph_.shape.nodes[plan_.node].role)),
      barriers_(plan_),
      overtaking_(plan_.inputs.size()) {}

// ---- what is asked for ----------------------------------------------------------------------

void ReplicaSnapshots::trigger(SnapshotId snapshot, SnapshotId complete, bool hold, Time patience) {
  requests_.trigger(snapshot, hold);
  heard_complete(complete);
  expect(snapshot, patience);
}

bool ReplicaSnapshots::serve_requests(Stage stage) {
  const bool starts_barriers =
      is_source_ || stage == Stage::ended || (plan_.is_head && barriers_.all_ended());
  const auto next = requests_.take(starts_barriers);
  if (!next) return false;
  if (next->what == SnapshotRequests::Next::What::save) {
    snapshot(next->snapshot, stage);
    return true;
  }
  const bool again = requests_.was_committed(next->snapshot);
  if (again || guard_.call("commit", [&] { operator_->commit(next->snapshot); })) {
    requests_.committed(next->snapshot);
    port_.committed(next->snapshot);
  }
  return true;
}

// ---- barriers -------------------------------------------------------------------------------

void ReplicaSnapshots::on_barrier(std::size_t input, const Barrier& barrier, Stage stage) {
  heard_complete(barrier.complete);
  const auto wanted = barriers_.on_barrier(input, barrier.snapshot);
  wanted ? snapshot(*wanted, stage) : save_complete();
}

void ReplicaSnapshots::on_end(std::size_t input, Stage stage) {
  const auto wanted = barriers_.on_end(input);
  wanted ? snapshot(*wanted, stage) : save_complete();
}

// Carbone et al. 2015, Algorithm 1: save the state, pass the barrier on, go on. The state is
// copied here and stored in the background; that of a head when what was under way in its cycle
// has come, and that of others when their barrier has left.
void ReplicaSnapshots::snapshot(SnapshotId snapshot, Stage stage,
                                const std::vector<std::size_t>& missing) {
  ENSURE(reorder_.empty());  // All batches before the barrier have come, so no place is missing.
  const Time deadline = overtaking_.deadline_of(snapshot);
  guard_.call("snapshot", [&] {
    operator_->prepare(snapshot);
    outbox_.flush();
    counters_.sent(outbox_.items_sent(), outbox_.bytes_sent());
    Buffer part = parts_.plain_part(stage, *operator_);
    requests_.saved(snapshot);
    parts_.cut(snapshot, complete_, outbox_.items_sent());
    if (stage != Stage::ended || plan_.may_overtake()) {
      outbox_.barrier(snapshot, complete_, deadline);
    }
    if (!parts_.has_keys() && plan_.is_head) {
      barriers_.cut(snapshot, std::move(part));
      overtaking_.taken(snapshot);
    } else {
      overtaking_.cut(snapshot, std::move(part));
    }
    for (const std::size_t input : missing) overtaking_.miss(input);
    inbox_.each([&](std::size_t input, const Packet& packet) {
      overtaking_.received(input, plan_.inputs[input].from, packet);
    });
  });
  outbox_.hurry(next_overtaking());
  save_complete();
  inbox_.release([this](std::size_t input) { return barriers_.is_blocked(input); });
}

void ReplicaSnapshots::save_complete() {
  while (auto part = barriers_.take()) parts_.save(part->snapshot, std::move(part->bytes), 0);
  save_open_part();
}

// ---- barriers that overtake items: docs/design/025-barriers-that-overtake.md ----------------

void ReplicaSnapshots::received(std::size_t input, const Packet& packet) {
  overtaking_.received(input, plan_.inputs[input].from, packet);
  if (const auto* barrier = std::get_if<Barrier>(&packet)) {
    expect(barrier->snapshot, barrier->patience);
  }
}

void ReplicaSnapshots::expect(SnapshotId snapshot, Time patience) {
  if (snapshot <= requests_.last_saved()) return;
  overtaking_.expect(snapshot, Barrier{.patience = patience}.deadline(port_.now()));
  outbox_.hurry(next_overtaking());
}

// When all that belongs to it is known. A barrier that waits for its turn may yet pass items.
void ReplicaSnapshots::save_open_part() {
  const auto open = overtaking_.open();
  if (!open || guard_.has_failed()) return;
  const bool may_pass = plan_.may_overtake() && overtaking_.deadline_of(*open) != Barrier::forever;
  if (may_pass && outbox_.holds_barrier(*open)) return;
  auto part = overtaking_.take();
  if (!part) return;
  outbox_.hurry(next_overtaking());
  const std::size_t before = part->state.size();
  if (part->has_overtaken()) {
    wire::Writer(part->state).text(layout_of_batches());
    part->received.write_to(part->state);
    part->unsent.write_to(part->state);
  }
  const std::size_t under_way = part->state.size() - before;
  parts_.save(part->snapshot, std::move(part->state), under_way);
}

bool ReplicaSnapshots::overtake(Stage stage) {
  if (overtaking_.idle() || !plan_.may_overtake()) return false;
  const Time now = port_.now();
  const auto open = overtaking_.open();
  if (open && overtaking_.deadline_of(*open) <= now && outbox_.holds_barrier(*open)) {
    outbox_.overtake(*open, [this](std::size_t lane, const Batch& batch) {
      overtaking_.add_unsent(lane, batch);
    });
  }
  save_open_part();
  const auto due = overtaking_.due(now);
  // A source, and who has ended, do what they are told at once.
  if (!due || plan_.inputs.empty() || stage == Stage::ended) return false;
  std::vector<std::size_t> missing;
  for (std::size_t input = 0; input < plan_.inputs.size(); ++input) {
    if (barriers_.is_open(input)) missing.push_back(input);
  }
  barriers_.overtake(*due);
  snapshot(*due, stage, missing);
  return true;
}

std::optional<Time> ReplicaSnapshots::next_overtaking() const {
  if (!plan_.may_overtake()) return std::nullopt;
  auto next = overtaking_.next_deadline();
  if (const auto open = overtaking_.open(); open && outbox_.holds_barrier(*open)) {
    const Time deadline = overtaking_.deadline_of(*open);
    if (deadline != Barrier::forever) next = std::min(deadline, next.value_or(deadline));
  }
  return next;
}

// Of what comes, and of what leaves by each output: another version of the program would read other
// items in the same bytes.
const std::string& ReplicaSnapshots::layout_of_batches() {
  if (!layout_of_batches_) {
    std::string layout = flow::layout_of_items(graph_, plan_.node);
    for (const flow::OutputPlan& output : plan_.outputs) {
      layout += " > " + flow::layout_of_items(graph_, graph_.shape.edges[output.edge].to);
    }
    layout_of_batches_ = std::move(layout);
  }
  return *layout_of_batches_;
}

// ---- going on from a snapshot ---------------------------------------------------------------

void ReplicaSnapshots::restored(SnapshotId snapshot) {
  heard_complete(snapshot);
  requests_.committed(snapshot);
}

Result<Done> ReplicaSnapshots::restore_overtaken(Bytes bytes, CreditBook& credits) {
  if (bytes.empty()) return Done{};
  wire::Reader reader(bytes);
  if (const std::string layout = reader.text(); reader.ok() && layout != layout_of_batches()) {
    return Error{Errc::config, concat("it has items that were under way, of other types: want ",
                                      layout_of_batches(), ", found ", layout)};
  }
  auto received = BatchLog::read(reader);
  if (!received) return received.error();
  auto unsent = BatchLog::read(reader);
  if (!unsent) return unsent.error();
  if (auto finished = reader.finish(); !finished) return finished;
  if (!plan_.may_overtake()) return Error{Errc::corrupt, "it has batches that a barrier overtook"};
  for (BatchLog::Entry& entry : *received) {
    const auto input = plan_.input_from(entry.where);
    if (!input) return Error{Errc::corrupt, concat("it has a batch of replica ", entry.where)};
    inbox_.put(*input, std::move(entry.batch));
    credits.restored(*input);
  }
  for (BatchLog::Entry& entry : *unsent) {
    if (!outbox_.restore(entry.where, std::move(entry.batch))) {
      return Error{Errc::corrupt, concat("it has a batch for lane ", entry.where)};
    }
  }
  return Done{};
}

}  // namespace piracema::runtime
