// What a replica saves, and how it goes on from that. A part of a snapshot is its stage (uint8),
// the operator's state with its length, and for the head of a cycle the log.
#include <piracema/detail/restored.h>

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"
#include "run/replica/replica.h"
#include "state/restored_part.h"
#include "state/stage.h"
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

// Carbone et al. 2015, Algorithm 1: save the state, pass the barrier on, go on. The state is
// copied here and stored in the background; that of a head when what was under way in its cycle
// has come.
void Replica::snapshot(SnapshotId snapshot) {
  ENSURE(reorder_.empty());  // All batches before the barrier have come, so no place is missing.
  guarded("snapshot", [&] {
    operator_->prepare(snapshot);
    outbox_.flush();
    count_out();
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
    last_saved_ = snapshot;
    if (keyed_) {
      keyed_->begin(snapshot, complete_, std::move(part));
    } else if (plan_.is_head) {
      barriers_.cut(snapshot, std::move(part));
    } else {
      port_.save(snapshot, std::move(part));
    }
    if (!ended_) outbox_.barrier(snapshot, complete_);
  });
  save_complete();
  inbox_.release([this](std::size_t input) { return barriers_.is_blocked(input); });
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
    port_.save(snapshot, keyed_->take());
  });
}

void Replica::save_complete() {
  while (auto part = barriers_.take()) port_.save(part->snapshot, std::move(part->bytes));
}

Result<Done> Replica::restore(Bytes part) {
  last_part_bytes_ = part.size();
  wire::Reader reader(part);
  const auto stage = static_cast<Stage>(reader.number<std::uint8_t>());
  const Bytes state = reader.bytes();
  if (!plan_.is_head) {
    if (auto read = reader.finish(); !read) return read;
  } else if (reader.ok()) {
    if (auto read = restore_log(reader.raw(reader.left())); !read) return read;
  }
  if (!reader.ok()) return reader.finish();
  ended_ = stage == Stage::ended;
  cycle_ended_ = stage == Stage::cycle_ended;
  operator_->load(state);
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
  keyed_->goes_on_from(beginning_.files);
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
