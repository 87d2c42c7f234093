#pragma once

#include <piracema/bytes.h>
#include <piracema/key.h>

#include <cstdint>

namespace piracema::engine {

/// The keys of a group whose mixed hashes go on with `prefix`, a number of `depth` bits, behind the
/// bits of the group.
struct HashRange {
  std::uint32_t group = 0, depth = 0, prefix = 0;

  /// More is no range: a group is divided into at most so many.
  static constexpr std::uint32_t depth_max = 16;
  bool operator==(const HashRange&) const = default;
};

/// Where the states of a range of keys were saved: in the part of a replica in a snapshot.
struct StatePlace {
  /// 0: nowhere.
  std::uint64_t snapshot = 0;
  std::uint32_t replica = 0;
  /// From the beginning of what the part holds.
  std::uint64_t offset = 0, bytes = 0, checksum = 0;
  bool operator==(const StatePlace&) const = default;
};

/// What a snapshot gets of the states of one operator, range by range, in any order.
class KeyedCut {
 public:
  virtual ~KeyedCut() = default;
  /// The range is as it was saved at `place`. False: it has to be saved anew all the same.
  virtual bool keep(const HashRange& range, const StatePlace& place) = 0;
  /// Where the states of a range are to be appended; `saved` follows with where they begin.
  virtual Buffer& bytes() = 0;
  virtual StatePlace saved(const HashRange& range, std::size_t from) = 0;
};

/// The states that an operator has for the keys of its items, as the runtime sees them: ranges of
/// keys that are saved, and loaded, each by itself. Used by the thread of its replica.
class KeyedStates {
 public:
  virtual ~KeyedStates() = default;

  /// Which keys may come. Once, before all else.
  virtual void own(KeyGroups groups, GroupRange range) = 0;
  /// Takes over a range of a group that it owns, as it was saved at `place`. No key is in two.
  /// Throws DecodeError.
  virtual void load(const HashRange& range, Bytes bytes, const StatePlace& place) = 0;

  /// Freezes all as it is now, at no cost: `cut` gets each range as it is now, by `save_next` or
  /// sooner, whatever is written meanwhile. Forgets an earlier cut. `cut` lives until the next one,
  /// or `end_cut`.
  virtual void begin_cut(KeyedCut& cut) = 0;
  /// Gives a range or none to the cut, which takes some microseconds; false when it has all.
  virtual bool save_next() = 0;
  virtual void end_cut() = 0;

  /// How many keys have a state.
  virtual std::uint64_t size() const = 0;
};

}  // namespace piracema::engine
