#pragma once

#include <piracema/detail/keyed_states.h>

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "base/engine.h"

namespace piracema::state {

/// Records are of the version in which they were written last: between two cuts, or read from one
/// file. Which file has a record is known of its version, so a record is not written again because
/// it was saved. Pure.
class SavedVersions {
 public:
  using Id = std::uint64_t;

  /// The one of what is written now.
  Id now() const { return now_; }
  /// One more record is of it.
  void enter(Id version) { versions_[version].records += 1; }
  /// One less. The version is known.
  void leave(Id version) { versions_.at(version).records -= 1; }

  /// The file that has it; `saved_in::none` until it is saved. The version is known.
  std::uint8_t file_of(Id version) const { return versions_.at(version).file; }
  /// Of what is read from that file.
  Id of_file(std::uint8_t file);
  /// Records of all versions that the file has.
  std::uint64_t records_in(std::uint8_t file) const;
  /// No file with such a number is relied on any more.
  void forget(const std::array<bool, 256>& numbers);

  /// What is written from here on is of a new version. The one that ends is in that file.
  Id cut(std::uint8_t file);
  /// The oldest first, of which `is_in` holds by the number of their file.
  std::vector<Id> in_files(const std::array<bool, 256>& is_in) const;
  /// Those without records, which are not known any more; what is written now is not one.
  std::vector<Id> drop_empty();

 private:
  struct Version {
    std::uint8_t file = saved_in::none;
    std::uint64_t records = 0;
  };

  std::map<Id, Version> versions_ = {{1, {}}};
  Id now_ = 1, next_ = 2;
};

}  // namespace piracema::state
