#pragma once

#include <vector>

#include "coll/mpi/exchange/exchange.h"

namespace piracema::coll::mpi {

/// The program's data as segments of bytes, or as one of its own type if it is told so. Data of a
/// type with holes is packed first, and unpacked at the end.
class Segments {
 public:
  /// `bytes` in segments of `segment_bytes`, or one of all (Header::whole). With `filled` the data
  /// is there: a root's.
  Segments(const Exchange&, Data, std::uint64_t bytes, std::uint32_t segment_bytes, bool filled);

  std::size_t count() const { return count_; }
  Data operator[](std::size_t i);
  /// Puts what came into its place. MPI_ERR_TRUNCATE if it was not as much as there is room for.
  void finish();

 private:
  const Exchange& exchange_;
  const Data data_;
  const std::uint64_t bytes_;
  const std::uint32_t segment_bytes_;
  bool fits_ = true;
  std::size_t count_ = 1;
  char* begin_ = nullptr;
  std::vector<char> packed_;
};

/// Whether values of a type lie in memory as they do in a message.
bool is_plain(MPI_Datatype);

}  // namespace piracema::coll::mpi
