#include "state/keyed_saver.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "wire/checksum.h"

namespace piracema::state {

namespace {

store::StateUnit unit_of(const HashRange& range, const StatePlace& place) {
  return {range.group,  range.depth, range.prefix,  {place.snapshot, place.replica},
          place.offset, place.bytes, place.checksum};
}

}  // namespace

KeyedSaver::KeyedSaver(ReplicaId self, KeyGroups groups, KeyedStates& states,
                       std::size_t piece_bytes)
    : self_(self), groups_(groups), states_(states), piece_bytes_(piece_bytes) {}

KeyedSaver::~KeyedSaver() { states_.end_cut(); }

// How much was written there, others know: at least what is in use.
void KeyedSaver::loaded(const store::StateUnit& unit) {
  Use& use = files_[unit.file];
  use.written += unit.bytes;
  use.used += unit.bytes;
}

void KeyedSaver::begin(SnapshotId snapshot, SnapshotId complete, Buffer plain) {
  ENSURE(snapshot > complete);
  saving_ = true;
  snapshot_ = snapshot;
  complete_ = complete;
  choose_files();
  index_ = {plain.size(), wire::checksum(plain), groups_.count(), {}};
  // A list of a hundred thousand that has to grow is a pause of its own. Ranges of less than 16 keys
  // are rare, and room that is not touched costs nothing.
  const std::uint64_t likely =
      last_units_ != 0 ? last_units_ + last_units_ / 8 : states_.size() / 16;
  index_.units.reserve(static_cast<std::size_t>(likely));
  taken_bytes_ = 0;
  data_ = std::move(plain);
  states_.begin_cut(*this);
}

void KeyedSaver::choose_files() {
  left_.clear();
  std::vector<std::pair<std::uint64_t, store::PartFile>> named;
  for (const auto& [file, use] : files_) {
    if (2 * use.used < use.written) {
      left_.insert(file);
    } else {
      named.emplace_back(use.used, file);
    }
  }
  if (named.size() <= files_max) return;
  std::sort(named.begin(), named.end());
  named.resize(named.size() - files_max);
  for (const auto& [used, file] : named) left_.insert(file);
}

bool KeyedSaver::keep(const HashRange& range, const StatePlace& place) {
  // What was saved in a snapshot that was given up is nowhere.
  if (place.snapshot > complete_ || left_.contains({place.snapshot, place.replica})) return false;
  index_.units.push_back(unit_of(range, place));
  return true;
}

StatePlace KeyedSaver::saved(const HashRange& range, std::size_t from) {
  const Bytes bytes = Bytes(data_).subspan(from);
  const StatePlace place{snapshot_, self_, taken_bytes_ + from, bytes.size(),
                         wire::checksum(bytes)};
  index_.units.push_back(unit_of(range, place));
  // It becomes a whole piece. To grow step by step is to copy each time, while items wait.
  if (data_.size() > piece_bytes_ / 16) data_.reserve(room_for_piece());
  return place;
}

Buffer KeyedSaver::take_piece() {
  if (data_.size() < piece_bytes_) return {};
  taken_bytes_ += data_.size();
  Buffer next;
  next.reserve(room_for_piece());
  return std::exchange(data_, std::move(next));
}

store::PartContent KeyedSaver::take() {
  ENSURE(saving_);
  saving_ = false;
  last_units_ = index_.units.size();
  states_.end_cut();
  // No item is taken meanwhile, and there may be a hundred thousand: neighbours are of one file.
  std::map<store::PartFile, Use> files;
  auto last = files.end();
  for (const store::StateUnit& unit : index_.units) {
    if (last == files.end() || last->first != unit.file) last = files.try_emplace(unit.file).first;
    last->second.used += unit.bytes;
  }
  for (auto& [file, use] : files) {
    const auto known = files_.find(file);
    use.written = known != files_.end() ? known->second.written : use.used;
  }
  files_ = std::move(files);
  return {std::move(data_), std::move(index_), taken_bytes_};
}

}  // namespace piracema::state
