#pragma once

#include <piracema/error.h>
#include <piracema/smr/groups.h>

#include <cstdint>
#include <map>
#include <span>

namespace piracema::smr {

/// The groups of execution threads that requests may name (paper 003, section 3): each thread
/// alone, under its number; all threads; and those that the service's author adds.
class Groups {
 public:
  static constexpr unsigned threads_max = 64;

  /// 1 to `threads_max` threads, numbered from 0.
  explicit Groups(unsigned threads);

  /// Paper 003, Algorithm 3, line 17. Errc::config, with one line, if the number is that of a
  /// thread, of conflict_none or conflict_all, or taken; or if a thread does not exist.
  Result<Done> add_conflict_group(std::uint32_t group, std::span<const unsigned> threads);

  unsigned threads() const { return threads_; }
  std::uint64_t all() const { return ~std::uint64_t{0} >> (threads_max - threads_); }
  /// Its threads, a bit for each. All for conflict_all, and for a group that nobody has made:
  /// clients say what they like, and this is always right.
  std::uint64_t threads_of(std::uint32_t group) const;

 private:
  unsigned threads_;
  std::map<std::uint32_t, std::uint64_t> added_;
};

}  // namespace piracema::smr
