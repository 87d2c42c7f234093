#pragma once

#include <piracema/batch.h>
#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <vector>

#include "base/engine.h"
#include "wire/reader.h"

namespace piracema::runtime {

/// Batches as a part of a snapshot has them that were under way, each with a number that says
/// where: who sent it, or by which lane it leaves.
class BatchLog {
 public:
  void add(std::uint32_t where, const Batch& batch);
  bool empty() const { return count_ == 0; }
  /// How many there are, and each of them, behind what `out` has.
  void write_to(Buffer& out) const;

  struct Entry {
    std::uint32_t where = 0;
    Batch batch;
  };
  /// What `write_to` wrote, no further. Errc::corrupt if it is no log.
  static Result<std::vector<Entry>> read(wire::Reader& reader);

 private:
  std::uint64_t count_ = 0;
  Buffer entries_;
};

}  // namespace piracema::runtime
