#include "state/states_ahead.h"

#include <piracema/detail/restored.h>
#include <piracema/operator.h>

#include <exception>
#include <utility>
#include <vector>

#include "base/text.h"
#include "flow/states.h"
#include "state/restored_part.h"

namespace piracema::state {

namespace {

// So much is read in no time, whatever it is.
constexpr std::uint64_t little = std::uint64_t{1} << 20;

}  // namespace

StatesAhead::StatesAhead(std::shared_ptr<const Graph> graph, const flow::ReplicaPlan& next,
                         GroupRange groups)
    : graph_(std::move(graph)), next_(next), groups_(groups) {}

StatesAhead::~StatesAhead() = default;

void StatesAhead::forget() {
  snapshot_ = 0;
  files_.reset();
  operator_.reset();
}

void StatesAhead::begin() {
  forget();
  try {
    operator_ = graph_->code[next_.node]();
    states_ = operator_->keyed_states(nullptr);
  } catch (const std::exception&) {
    return;  // It will throw where that is told.
  }
  if (states_ == nullptr || !states_->can_join()) return;
  states_->own(next_.groups, groups_);
  files_ = std::make_unique<SavedFiles>(next_.groups, *states_);
}

Result<bool> StatesAhead::go_to(store::SnapshotStore& store, SnapshotId snapshot,
                                const std::function<bool()>& stop) {
  if (snapshot_ == snapshot && snapshot != 0) return true;
  if (snapshot_ == 0 || snapshot < snapshot_) begin();
  if (!files_) return false;
  auto done = read(store, snapshot, stop);
  snapshot_ = done && *done ? snapshot : 0;
  if (snapshot_ == 0) forget();
  return done;
}

Result<bool> StatesAhead::read(store::SnapshotStore& store, SnapshotId snapshot,
                               const std::function<bool()>& stop) {
  const auto manifest = store.manifest(snapshot);
  if (!manifest) return manifest.error();
  // What another version of the program wrote is converted once, when it is gone on from.
  const std::string layout = layout_of(*manifest, graph_->shape, next_.node);
  if (operator_->former_states() != 0 && flow::changes_since(*graph_, next_.node, layout) != 0) {
    return false;
  }
  auto keys = find_keys(store, *manifest, graph_->shape, next_, {groups_});
  if (!keys) return keys.error();
  // A file that was read for a group has nothing new for it.
  std::vector<store::StateUnit> fresh;
  std::uint64_t bytes = 0;
  for (const store::StateUnit& unit : keys->units) {
    if (unit.whole_range) return false;  // Of version 2: it is read as a whole.
    if (files_->names(unit.file, unit.group)) continue;
    fresh.push_back(unit);
    bytes += unit.bytes;
  }
  if (snapshot_ == 0) bytes_ = bytes;
  // To change what was read takes longer than to read it.
  if (snapshot_ != 0 && bytes > little && bytes > bytes_ / 2) return false;
  files_->follow(keys->files);
  if (!files_->all_have_numbers()) return false;
  bool stopped = false;
  const auto read = store::read_units(
      store, std::move(fresh), [&](const store::StateUnit& unit, Bytes part) -> Result<Done> {
        if ((stopped = stop())) return Error{Errc::timeout, "it is not wanted any more"};
        try {
          const std::uint8_t number = files_->number_of(unit.file);
          files_->loaded(unit.file, part.size(), states_->replay(unit.group, part, number));
          detail::note_restored(part.size());
        } catch (const std::exception& error) {  // Types of users throw what they like.
          return Error{Errc::corrupt, concat("states by key of group ", unit.group, " in snapshot ",
                                             unit.file.snapshot, ": ", error.what())};
        }
        return Done{};
      });
  if (stopped) return false;
  if (!read) return read.error();
  for (std::uint32_t group = groups_.first; group != groups_.end; ++group) {
    if (const auto files = files_->struck(group)) states_->strike(group, *files);
  }
  files_->followed();
  return true;
}

std::shared_ptr<KeptStates> StatesAhead::take() {
  if (snapshot_ == 0) return nullptr;
  return std::make_shared<KeptStates>(
      KeptStates{std::exchange(snapshot_, 0), groups_, states_->take_out(), files_->keep()});
}

}  // namespace piracema::state
