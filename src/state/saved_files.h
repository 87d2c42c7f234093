#pragma once

#include <piracema/detail/keyed_states.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/engine.h"
#include "base/ids.h"
#include "store/snapshot/part_index.h"

namespace piracema::state {

/// The files in which the states by key of one replica lie: a log that is cleaned as that of
/// Rosenblum and Ousterhout (1992). Each snapshot adds a file with what has changed. So that these
/// are not ever more, what still counts of a file is saved anew, some groups in each snapshot, and
/// then it is not named any more.
///
/// A file that is not named once is never named again, nor is a range of groups that was saved
/// anew: a key that is gone is forgotten when no file that is named may have it.
class SavedFiles {
 public:
  /// Files that a part may name. At so many the 16 with the least in use become one.
  static constexpr std::size_t files_max = 64, merged = 16;

  /// `states` outlives it, and is what is saved.
  SavedFiles(KeyGroups groups, KeyedStates& states);

  /// Those of a snapshot, with its own, and what is read of each. Once, before all else.
  void restore(const std::vector<store::NamedFile>& files);
  /// Those of a later snapshot, in place of them. What is read of each that is new is to be
  /// replayed behind what was, and what `struck` says of a group to be struck from it then.
  void follow(const std::vector<store::NamedFile>& files);
  /// What it says of the group is read.
  bool names(const store::PartFile& file, std::uint32_t group) const;
  /// Numbers of files of which something is not read any more: all but those that are named for the
  /// group. Nothing if the group has what it had, and more.
  std::optional<std::array<bool, 256>> struck(std::uint32_t group) const;
  /// All that `struck` says has been done.
  void followed();
  /// Each has a number.
  bool all_have_numbers() const;
  /// By which a table knows it; `saved_in::none` if there are more than numbers.
  std::uint8_t number_of(const store::PartFile& file) const;
  void loaded(const store::PartFile& file, std::uint64_t bytes, std::uint64_t entries);

  /// Decides what `own`, a new file, gets. Files of snapshots after `complete` were given up. No
  /// cut of the states is under way.
  void begin(const store::PartFile& own, SnapshotId complete);
  const CutPlan& plan(std::uint32_t group) const {
    return cleaned_ && cleaned_->groups.has(group) ? cleaned_->plan : plan_;
  }
  /// Those that the new one is read behind, oldest first.
  std::vector<store::NamedFile> named() const;
  /// The new one has all that the plan wanted.
  void saved(std::uint64_t bytes, std::uint64_t entries, std::uint64_t seal);

  /// What another one goes on with, whose states are those of this one.
  class Kept;
  /// Nothing is being saved. It is used no more.
  Kept keep();
  /// In place of what `restore` reads, for `groups`, which are all or some of those that the other
  /// one's states were of, `of`; once, before `restore` says of others. `states` has them already.
  void take_over(Kept kept, GroupRange of, GroupRange groups);
  /// Besides what it has: files of groups that it has none of, as the other one kept them. Says
  /// which number here each number there has.
  FileNumbers join(const Kept& kept);

 private:
  struct File {
    std::uint8_t number = 0;
    std::uint64_t seal = 0;
    /// Of the groups in `groups`, when they were saved.
    std::uint64_t bytes = 0, entries = 0;
    /// What is still read of it: one behind the other.
    std::vector<GroupRange> groups;
    /// What was, before `follow`.
    std::vector<GroupRange> before;

    bool has(std::uint32_t group) const;
    void put_in_order();
  };
  using Files = std::map<store::PartFile, File>;

  std::uint64_t in_use(const File& file) const { return states_.in_file(file.number); }
  double bytes_in_use(const File& file) const;
  /// The one of which the smallest share is in use.
  Files::iterator emptiest();
  Files::iterator leave(Files::iterator file);
  void give_up_last(SnapshotId complete);
  void merge_least();
  void clean();
  void clean_part(Files::iterator file);
  std::uint8_t new_number();
  CutPlan plan_for(std::uint8_t number) const;

  const KeyGroups groups_;
  KeyedStates& states_;
  Files files_;
  /// Numbers of files that are not named any more, of which keys may still be said to lie there.
  std::array<bool, 256> left_{};
  /// The file that is being written: until `saved`.
  std::optional<store::PartFile> own_;
  CutPlan plan_;
  /// The groups of a file that are saved anew, the others of which are not.
  struct Cleaned {
    store::PartFile file;
    GroupRange groups;
    CutPlan plan;
  };
  std::optional<Cleaned> cleaned_;
  /// Entries that may be saved anew, as others have been written.
  double allowance_ = 0;
};

class SavedFiles::Kept {
  friend class SavedFiles;
  Files files;
  double allowance = 0;
};

}  // namespace piracema::state
