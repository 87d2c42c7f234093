// What a replica saves, and how it goes on from that: a state::PlainPart, and states by key.
#include <piracema/detail/restored.h>

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"
#include "flow/states.h"
#include "run/replica/replica.h"
#include "state/plain_part.h"
#include "state/restored_part.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::runtime {

using state::Stage;

bool Replica::serve_requests() {
  // A replica that saved it and then ended may be asked once more: the coordinator heard of its
  // end before it heard of its state. So may a head, which is asked in case no barrier comes.
  while (!triggers_.empty() && triggers_.front() <= last_saved_) triggers_.pop_front();
  const bool starts_barriers =
      is_source(node_.role) || ended_ || (plan_.is_head && barriers_.all_ended());
  const bool may_save = !triggers_.empty() && starts_barriers;
  // What is committed was prepared before, even if it could not be stored after that.
  const bool save_first = may_save && !commits_.empty() && triggers_.front() <= commits_.front();
  if (!commits_.empty() && !save_first) {
    const SnapshotId snapshot = commits_.front();
    commits_.pop_front();
    // A coordinator that has taken the job over says once more what may have been said before.
    const bool again = last_committed_ && snapshot <= *last_committed_;
    if (again || guarded("commit", [&] { operator_->commit(snapshot); })) {
      last_committed_ = std::max(last_committed_.value_or(0), snapshot);
      port_.committed(snapshot);
    }
    return true;
  }
  if (may_save) {
    const SnapshotId wanted = triggers_.front();
    triggers_.pop_front();
    snapshot(wanted);
    return true;
  }
  return false;
}

void Replica::trigger(SnapshotId snapshot, SnapshotId complete, bool hold, Time patience) {
  triggers_.push_back(snapshot);
  hold_after_.reset();
  if (hold) hold_after_ = snapshot;
  heard_complete(complete);
  expect(snapshot, patience);
}

// Carbone et al. 2015, Algorithm 1: save the state, pass the barrier on, go on. The state is
// copied here and stored in the background; that of a head when what was under way in its cycle
// has come, and that of others when their barrier has left.
void Replica::snapshot(SnapshotId snapshot, const std::vector<std::size_t>& missing) {
  ENSURE(reorder_.empty());  // All batches before the barrier have come, so no place is missing.
  const Time deadline = overtaking_.deadline_of(snapshot);
  guarded("snapshot", [&] {
    operator_->prepare(snapshot);
    outbox_.flush();
    count_out();
    Buffer part = state_part();
    last_saved_ = snapshot;
    items_out_at_cut_ = counters_.items_out.load(std::memory_order_relaxed);
    if (keyed_) keyed_->freeze(snapshot, complete_);
    if (!ended_ || plan_.may_overtake()) outbox_.barrier(snapshot, complete_, deadline);
    if (!keyed_ && plan_.is_head) {
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

Buffer Replica::state_part() {
  // A large state is written once, where it is to lie: memory that has to grow is there twice, so
  // there is room for a state that has grown since. What is not used of it is not touched.
  Buffer part;
  part.reserve(last_part_bytes_ + last_part_bytes_ / 8);
  wire::Writer writer(part);
  const Stage stage = ended_ ? Stage::ended : cycle_ended_ ? Stage::cycle_ended : Stage::running;
  writer.number(static_cast<std::uint8_t>(stage));
  const std::size_t begin = part.size();
  writer.number(std::uint64_t{0});
  operator_->save(part);
  wire::write_number(part.data() + begin,
                     std::uint64_t{part.size() - begin - sizeof(std::uint64_t)});
  last_part_bytes_ = part.size();
  return part;
}

bool Replica::can_save_more() const {
  return keyed_ && keyed_->is_saving() && !failed_ &&
         port_.unwritten() <= beginning_.unwritten_bytes_max;
}

// What the operator has for keys is frozen, which takes no time, and saved in pieces.
void Replica::save_more() {
  if (!can_save_more()) return;
  guarded("snapshot", [&] {
    const SnapshotId snapshot = keyed_->snapshot();
    const Time until = port_.now() + save_slice;
    while (keyed_->go_on()) {
      Buffer piece = keyed_->take_piece();
      const bool handed_over = !piece.empty();
      if (handed_over) port_.save_piece(snapshot, std::move(piece));
      if (port_.now() > until || (handed_over && !can_save_more())) return;
    }
    store::PartContent content = keyed_->take();
    content.under_way = bytes_overtaken_;
    port_.save(snapshot, items_out_at_cut_, std::move(content));
  });
}

void Replica::save_part(SnapshotId snapshot, Buffer part) {
  if (keyed_) return keyed_->begin(std::move(part));
  store::PartContent content(std::move(part));
  content.under_way = bytes_overtaken_;
  port_.save(snapshot, items_out_at_cut_, std::move(content));
}

void Replica::save_complete() {
  while (auto part = barriers_.take()) save_part(part->snapshot, std::move(part->bytes));
  save_open_part();
}

// ---- barriers that overtake items: docs/design/025-barriers-that-overtake.md ----------------

void Replica::expect(SnapshotId snapshot, Time patience) {
  if (snapshot <= last_saved_) return;
  overtaking_.expect(snapshot, Barrier{.patience = patience}.deadline(port_.now()));
  outbox_.hurry(next_overtaking());
}

// When all that belongs to it is known. A barrier that waits for its turn may yet pass items.
void Replica::save_open_part() {
  const auto open = overtaking_.open();
  if (!open || failed_) return;
  const bool may_pass = plan_.may_overtake() && overtaking_.deadline_of(*open) != Barrier::forever;
  if (may_pass && outbox_.holds_barrier(*open)) return;
  auto part = overtaking_.take();
  if (!part) return;
  outbox_.hurry(next_overtaking());
  bytes_overtaken_ = 0;
  if (part->has_overtaken()) {
    const std::size_t before = part->state.size();
    wire::Writer(part->state).text(layout_of_batches());
    part->received.write_to(part->state);
    part->unsent.write_to(part->state);
    bytes_overtaken_ = part->state.size() - before;
  }
  save_part(part->snapshot, std::move(part->state));
}

// Between two batches: what an operator is in the middle of belongs to no state. True if a state
// was taken.
bool Replica::overtake() {
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
  if (!due || plan_.inputs.empty() || ended_) return false;
  std::vector<std::size_t> missing;
  for (std::size_t input = 0; input < plan_.inputs.size(); ++input) {
    if (barriers_.is_open(input)) missing.push_back(input);
  }
  barriers_.overtake(*due);
  snapshot(*due, missing);
  return true;
}

std::optional<Time> Replica::next_overtaking() const {
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
const std::string& Replica::layout_of_batches() {
  if (!layout_of_batches_) {
    std::string layout = flow::layout_of_items(graph_, plan_.node);
    for (const flow::OutputPlan& output : plan_.outputs) {
      layout += " > " + flow::layout_of_items(graph_, graph_.shape.edges[output.edge].to);
    }
    layout_of_batches_ = std::move(layout);
  }
  return *layout_of_batches_;
}

// What was under way in the snapshot comes first, and leaves first. Its senders have their credits
// for others.
Result<Done> Replica::restore_overtaken(Bytes bytes) {
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
    unpaid_[*input] += 1;
  }
  for (BatchLog::Entry& entry : *unsent) {
    if (!outbox_.restore(entry.where, std::move(entry.batch))) {
      return Error{Errc::corrupt, concat("it has a batch for lane ", entry.where)};
    }
  }
  return Done{};
}

Result<Done> Replica::restore(Bytes bytes) {
  last_part_bytes_ = bytes.size();
  const auto part = state::read_plain_part(bytes);
  if (!part) return part.error();
  auto batches = plan_.is_head ? restore_log(part->under_way) : restore_overtaken(part->under_way);
  if (!batches) return batches;
  ended_ = part->stage == Stage::ended;
  cycle_ended_ = part->stage == Stage::cycle_ended;
  operator_->load(part->state);
  return Done{};
}

Result<Done> Beginning::restore(store::SnapshotStore& from, SnapshotId of, const GraphShape& shape,
                                const flow::ReplicaPlan& plan,
                                std::shared_ptr<state::KeptStates> of_former) {
  if (of_former && of_former->snapshot == of) kept = std::move(of_former);
  of_former.reset();  // Before another one is read: no state is in memory twice.
  auto part = state::read_part(from, of, shape, plan, kept ? kept->owned : GroupRange{});
  if (!part) return part.error();
  state = std::move(part->plain);
  layout = std::move(part->layout);
  units = std::move(part->units);
  files = std::move(part->files);
  store = &from;
  snapshot = of;
  return Done{};
}

std::shared_ptr<state::KeptStates> Replica::keep() {
  try {
    return keyed_ ? keyed_->keep(plan_.owned) : nullptr;
  } catch (const StateError&) {
    return nullptr;  // They are read from the snapshot.
  }
}

Result<Done> Replica::load_units() {
  ENSURE(keyed_ || (beginning_.units.empty() && !beginning_.kept));
  if (beginning_.kept) keyed_->take_over(std::move(*beginning_.kept), plan_.owned);
  beginning_.kept.reset();
  if (beginning_.units.empty()) return Done{};
  ENSURE(beginning_.store != nullptr);
  const auto ago = operator_->former_states() == 0
                       ? 0
                       : flow::changes_since(graph_, plan_.node, beginning_.layout);
  if (ago != 0) {
    keyed_->converts(ago);
  } else {
    keyed_->goes_on_from(beginning_.files);
  }
  return store::read_units(
      *beginning_.store, std::exchange(beginning_.units, {}),
      [&](const store::StateUnit& unit, Bytes bytes) -> Result<Done> {
        try {
          keyed_->load(unit, bytes);
        } catch (const DecodeError& error) {
          return Error{Errc::corrupt, concat("states by key of group ", unit.group, " in snapshot ",
                                             unit.file.snapshot, ": ", error.what())};
        }
        detail::note_restored(bytes.size());
        return Done{};
      });
}

}  // namespace piracema::runtime
