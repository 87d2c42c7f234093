#pragma once

#include <piracema/bytes.h>
#include <piracema/key.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace piracema::engine {

/// The keys of a group whose mixed hashes go on with `prefix`, a number of `depth` bits, behind the
/// bits of the group.
struct HashRange {
  std::uint32_t group = 0, depth = 0, prefix = 0;

  /// More is no range: a group is divided into at most so many.
  static constexpr std::uint32_t depth_max = 16;
  bool operator==(const HashRange&) const = default;
};

/// In which file the state of a key was saved last, as a table remembers it beside the key: a
/// number that whoever saves gives to the file, from 1 to `files`.
namespace saved_in {
/// No file: it has changed since, or comes anew. Of the latter no file has anything that counts.
constexpr std::uint8_t none = 0, none_ever = 255;
constexpr std::uint8_t files = 253;
constexpr bool is_file(std::uint8_t number) {
  return static_cast<std::uint8_t>(number - 1) < files;
}
}  // namespace saved_in

/// By the number of a file: the number that it has somewhere else.
using FileNumbers = std::array<std::uint8_t, 256>;

/// What a cut saves of a group.
struct CutPlan {
  /// Of the file that is being written.
  std::uint8_t number = 0;
  /// By the number of the file that has the state of a key: whether it is saved anew.
  std::array<bool, 256> again{};
  /// By the number of the file that says that a key is gone: whether an older file is still read,
  /// which may have the key.
  std::array<bool, 256> older{};
  /// `again` only for what has changed since it was saved.
  bool only_changes = true;
};

/// What a snapshot gets of the states of one operator, as entries: a key and its state, or that it
/// has none any more. In any order, each key at most once.
class KeyedCut {
 public:
  virtual ~KeyedCut() = default;
  /// The same through all of the cut.
  virtual const CutPlan& plan(std::uint32_t group) = 0;
  /// Where entries of a group are to be appended; `saved` follows with where they begin.
  virtual Buffer& bytes() = 0;
  virtual void saved(std::uint32_t group, std::size_t from, std::uint64_t entries) = 0;
};

/// The states that an operator has for the keys of its items, as the runtime sees them: it saves
/// what has changed, group by group. Used by the thread of its replica.
class KeyedStates {
 public:
  virtual ~KeyedStates() = default;

  /// Which keys may come. Once, before all else.
  virtual void own(KeyGroups groups, GroupRange range) = 0;
  /// What is loaded and replayed from here on was written by a version of the program that was so
  /// many changes of the state's type `ago` (`Before`).
  virtual void reads(std::uint32_t ago) = 0;
  /// Takes over all keys of a range of a group that it owns, as parts of version 2 have them. No
  /// key is in two. Throws DecodeError.
  virtual void load(const HashRange& range, Bytes bytes) = 0;
  /// Does once more what a file says of keys of a group, those of older files first. `number` is
  /// that of the file, or `none` if all is to be saved anew. Says how many entries there were.
  /// Throws DecodeError.
  virtual std::uint64_t replay(std::uint32_t group, Bytes bytes, std::uint8_t number) = 0;

  /// Freezes all as it is now, at no cost: `cut` gets what its plan wants as it is now, by
  /// `save_next` or sooner, whatever is written meanwhile. Forgets an earlier cut. `cut` lives
  /// until the next one, or `end_cut`.
  virtual void begin_cut(KeyedCut& cut) = 0;
  /// Gives some keys or none to the cut, which takes some microseconds; false when it has all.
  virtual bool save_next() = 0;
  virtual void end_cut() = 0;

  /// How many keys have a state.
  virtual std::uint64_t size() const = 0;
  /// How many entries of this file still count: states, and keys that are gone.
  virtual std::uint64_t in_file(std::uint8_t number) const = 0;
  /// What was saved in files of these numbers was not saved. Takes its time; no cut is under way.
  virtual void forget(const std::array<bool, 256>& numbers) = 0;

  /// Whether a key may have been written or erased since the last `begin_cut` or `settle`; true
  /// before there was one.
  virtual bool changed() const = 0;
  /// All that was loaded is there: what comes is a change. No cut is under way.
  virtual void settle() = 0;
  /// All that it has, in another one that owns the same groups. It is used no more.
  virtual std::unique_ptr<KeyedStates> take_out() = 0;
  /// Takes over what `from` has of the groups that both own, with the numbers of files; what it has
  /// of others goes with it. `from` is of the same operator and used no more. After `own`, before
  /// any key is loaded.
  virtual void take_over(KeyedStates& from) = 0;

  /// Whether it can be read ahead of the time it is needed: the two calls below are there.
  virtual bool can_join() const { return false; }
  /// What files of these numbers say of the keys of a group counts no more: as if these had never
  /// been replayed. No cut is under way.
  virtual void strike(std::uint32_t /*group*/, const std::array<bool, 256>& /*files*/) {
    throw std::logic_error("these states cannot be read ahead");
  }
  /// Takes over all that `from` has, of groups that it owns and has no keys of, with the files as
  /// they are numbered here; one without a number is `none`. `from` is of the same operator and
  /// used no more. No cut is under way.
  virtual void join(KeyedStates& /*from*/, const FileNumbers& /*numbers*/) {
    throw std::logic_error("these states cannot be read ahead");
  }
};

[[noreturn]] inline void foreign_key(std::uint32_t group, GroupRange owned) {
  throw std::logic_error("an item came whose key is of group " + std::to_string(group) +
                         ", and this replica has the groups from " + std::to_string(owned.first) +
                         " to " + std::to_string(owned.end) +
                         ": who sends it names its receiver, and ought not to");
}

}  // namespace piracema::engine
