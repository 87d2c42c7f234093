#include "run/replica/part_saver.h"

#include <piracema/detail/restored.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"
#include "flow/states.h"
#include "wire/writer.h"

namespace piracema::runtime {

namespace {
// States by key are saved between two batches, for a part of what the batch before took: so that a
// snapshot is done in time where batches take long, and nobody waits for long where they do not.
constexpr int save_share = 4;
constexpr Time save_slice_min = std::chrono::microseconds(200),
               save_slice_max = std::chrono::milliseconds(1);
}  // namespace

PartSaver::PartSaver(ReplicaId self, const flow::ReplicaPlan& plan, const Graph& graph, Port& port,
                     OperatorGuard& guard)
    : self_(self), plan_(plan), graph_(graph), port_(port), guard_(guard) {}

void PartSaver::begin_keys(KeyedStates& states, const ReplicaInit& init) {
  states.own(plan_.groups, plan_.owned);
  keyed_.emplace(self_, plan_.groups, states, init.piece_bytes);
  unwritten_bytes_max_ = init.unwritten_bytes_max;
}

Result<Done> PartSaver::load_keys(ReplicaInit& init, const Operator& of) {
  ENSURE(keyed_ || (init.keys.units.empty() && !init.kept && !init.ahead));
  if (!keyed_) return Done{};
  if (init.kept) {
    keyed_->take_over(*init.kept, plan_.owned);
    if (init.dispose) init.dispose(std::move(init.kept));
    init.kept.reset();
  }
  if (init.ahead) keyed_->join(*init.ahead);
  init.ahead.reset();
  if (!init.keys.units.empty()) {
    ENSURE(init.store != nullptr);
    const auto ago =
        of.former_states() == 0 ? 0 : flow::changes_since(graph_, plan_.node, init.layout);
    if (ago != 0) {
      keyed_->converts(ago);
    } else {
      keyed_->goes_on_from(init.keys.files);
    }
    auto read = store::read_units(
        *init.store, std::exchange(init.keys.units, {}),
        [&](const store::StateUnit& unit, Bytes bytes) -> Result<Done> {
          try {
            keyed_->load(unit, bytes);
          } catch (const DecodeError& error) {
            return Error{Errc::corrupt,
                         concat("states by key of group ", unit.group, " in snapshot ",
                                unit.file.snapshot, ": ", error.what())};
          }
          detail::note_restored(bytes.size());
          return Done{};
        });
    if (!read) return read;
  }
  keyed_->restored(init.snapshot);
  return Done{};
}

std::shared_ptr<state::KeptStates> PartSaver::keep() {
  try {
    return keyed_ ? keyed_->keep(plan_.owned) : nullptr;
  } catch (const StateError&) {
    return nullptr;  // They are read from the snapshot.
  }
}

Buffer PartSaver::plain_part(state::Stage stage, Operator& of) {
  // A large state is written once, where it is to lie: memory that has to grow is there twice, so
  // there is room for a state that has grown since. What is not used of it is not touched.
  Buffer part;
  part.reserve(last_part_bytes_ + last_part_bytes_ / 8);
  wire::Writer writer(part);
  writer.number(static_cast<std::uint8_t>(stage));
  const std::size_t begin = part.size();
  writer.number(std::uint64_t{0});
  of.save(part);
  wire::write_number(part.data() + begin,
                     std::uint64_t{part.size() - begin - sizeof(std::uint64_t)});
  last_part_bytes_ = part.size();
  return part;
}

void PartSaver::cut(SnapshotId snapshot, SnapshotId complete, std::uint64_t items_out) {
  items_out_at_cut_ = items_out;
  last_slice_ = port_.now();
  if (keyed_) keyed_->freeze(snapshot, complete);
}

void PartSaver::save(SnapshotId snapshot, Buffer part, std::size_t under_way) {
  under_way_ = under_way;
  if (keyed_) return keyed_->begin(std::move(part));
  store::PartContent content(std::move(part));
  content.under_way = under_way_;
  port_.save(snapshot, items_out_at_cut_, std::move(content));
}

bool PartSaver::can_go_on() const {
  return keyed_ && keyed_->is_saving() && !guard_.has_failed() &&
         port_.unwritten() <= unwritten_bytes_max_;
}

void PartSaver::go_on() {
  if (!can_go_on()) return;
  guard_.call("snapshot", [&] {
    const SnapshotId snapshot = keyed_->snapshot();
    const Time begun = port_.now();
    const Time until =
        begun + std::clamp((begun - last_slice_) / save_share, save_slice_min, save_slice_max);
    while (keyed_->go_on()) {
      Buffer piece = keyed_->take_piece();
      const bool handed_over = !piece.empty();
      if (handed_over) port_.save_piece(snapshot, std::move(piece));
      last_slice_ = port_.now();
      if (last_slice_ > until || (handed_over && !can_go_on())) return;
    }
    store::PartContent content = keyed_->take();
    content.under_way = under_way_;
    port_.save(snapshot, items_out_at_cut_, std::move(content));
  });
}

}  // namespace piracema::runtime
