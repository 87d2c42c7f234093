#pragma once

#include <piracema/smr/key_value.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::smr::kv {

/// Who has until when, by the clock of ordered operations. A lease that has ended stays here,
/// ended, until its entries are gone.
class Leases {
 public:
  static constexpr std::size_t count_max = 65'536;

  /// False if there are too many.
  bool grant(Index lease, std::uint64_t ttl, std::uint64_t time);
  /// False if it has ended: it never lives again.
  bool keep_alive(Index lease, std::uint64_t time);
  bool alive(Index lease, std::uint64_t time) const;
  /// Ends it now; false if it is not known.
  bool end(Index lease);
  /// Its entries are gone.
  void forget(Index lease);
  /// By age: the same on all replicas.
  std::vector<Index> ended(std::uint64_t time) const;
  /// When the first of those ends that nobody has ended; none if there is none.
  std::optional<std::uint64_t> next_deadline() const;

  void write(wire::Writer& out) const;
  void read(wire::Reader& in);

 private:
  struct Lease {
    std::uint64_t ttl = 0;
    /// It lives before this time.
    std::uint64_t deadline = 0;
  };
  void set_deadline(Index index, Lease& lease, std::uint64_t deadline);

  std::map<Index, Lease> leases_;
  /// Deadlines of all, the first one first.
  std::set<std::pair<std::uint64_t, Index>> by_deadline_;
};

}  // namespace piracema::smr::kv
