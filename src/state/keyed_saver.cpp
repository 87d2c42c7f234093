#include "state/keyed_saver.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "state/group_ranges.h"
#include "wire/checksum.h"

namespace piracema::state {

KeyedSaver::KeyedSaver(ReplicaId self, KeyGroups groups, KeyedStates& states,
                       std::size_t piece_bytes)
    : self_(self),
      groups_(groups),
      states_(states),
      piece_bytes_(piece_bytes),
      files_(groups, states) {}

KeyedSaver::~KeyedSaver() { states_.end_cut(); }

void KeyedSaver::load(const store::StateUnit& unit, Bytes bytes) {
  if (unit.whole_range) return states_.load({unit.group, unit.depth, unit.prefix}, bytes);
  const std::uint64_t entries = states_.replay(unit.group, bytes, files_.number_of(unit.file));
  files_.loaded(unit.file, bytes.size(), entries);
}

void KeyedSaver::take_over(KeptStates& kept, GroupRange owned) {
  states_.take_over(*kept.states);
  files_.take_over(std::move(kept.files), kept.owned, common(owned, kept.owned));
}

void KeyedSaver::join(KeptStates& ahead) { states_.join(*ahead.states, files_.join(ahead.files)); }

void KeyedSaver::restored(SnapshotId snapshot) {
  snapshot_ = snapshot;
  states_.settle();
}

std::unique_ptr<KeptStates> KeyedSaver::keep(GroupRange owned) {
  if (snapshot_ == 0 || saving_ || states_.changed()) return nullptr;
  return std::make_unique<KeptStates>(
      KeptStates{snapshot_, owned, states_.take_out(), files_.keep()});
}

void KeyedSaver::freeze(SnapshotId snapshot, SnapshotId complete) {
  ENSURE(snapshot > complete);
  states_.end_cut();
  saving_ = true;
  begun_ = false;
  snapshot_ = snapshot;
  files_.begin({snapshot, self_}, complete);
  index_ = {0, 0, groups_.count(), {}};
  taken_bytes_ = 0;
  entries_ = 0;
  open_.reset();
  data_.clear();
  states_.begin_cut(*this);
}

void KeyedSaver::begin(Buffer plain) {
  ENSURE(saving_ && !begun_);
  begun_ = true;
  index_.plain_bytes = plain.size();
  index_.plain_checksum = wire::checksum(plain);
  // What had to be saved meanwhile, as a segment was to split, moves behind it.
  for (store::StateUnit& unit : index_.units) unit.offset += plain.size();
  if (open_) {
    open_->begin += plain.size();
    open_->end += plain.size();
  }
  const Buffer saved = std::exchange(data_, std::move(plain));
  data_.append(saved.data(), saved.size());
}

void KeyedSaver::saved(std::uint32_t group, std::size_t from, std::uint64_t entries) {
  entries_ += entries;
  const bool goes_on = open_ && open_->group == group && open_->end == from &&
                       open_->end - open_->begin < unit_bytes;
  if (!goes_on) {
    close_unit();
    open_ = Open{group, from, from};
  }
  open_->end = data_.size();
  // It becomes a whole piece. To grow step by step is to copy each time, while items wait.
  if (data_.size() > piece_bytes_ / 16) data_.reserve(room_for_piece());
}

void KeyedSaver::close_unit() {
  if (!open_) return;
  const Bytes bytes = Bytes(data_).subspan(open_->begin, open_->end - open_->begin);
  index_.units.push_back({open_->group,
                          0,
                          0,
                          {snapshot_, self_},
                          taken_bytes_ + open_->begin,
                          bytes.size(),
                          wire::checksum(bytes)});
  open_.reset();
}

Buffer KeyedSaver::take_piece() {
  if (data_.size() < piece_bytes_) return {};
  close_unit();
  taken_bytes_ += data_.size();
  Buffer next;
  next.reserve(room_for_piece());
  return std::exchange(data_, std::move(next));
}

store::PartContent KeyedSaver::take() {
  ENSURE(is_saving());
  saving_ = false;
  close_unit();
  states_.end_cut();
  store::put_in_order(index_.units);
  index_.files = files_.named();
  const std::uint64_t bytes = taken_bytes_ + data_.size() - index_.plain_bytes;
  files_.saved(bytes, entries_, store::seal(index_.units));
  return {std::move(data_), std::move(index_), taken_bytes_};
}

}  // namespace piracema::state
