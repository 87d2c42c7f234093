#pragma once

#include <cstdint>

#include "coll/mpi/exchange/mpi_types.h"

/// What ranks send to each other.
namespace piracema::coll::mpi {

/// What a message is, in the low bits of its tag; above them the number of the operation.
enum class Kind { header, data, stamp, plan, up, told, ended, strayed };
/// The whole number travels in the message, so that one of 4096 operations before or after is told
/// apart.
struct Tag {
  int value;
  std::uint32_t number;
};
inline Tag tag(std::uint32_t operation, Kind kind) {
  // MPI promises tags up to 32767. Nobody runs ahead of others by 4096 operations: Group.
  return {static_cast<int>((operation % 4'096) << 3) | static_cast<int>(kind), operation};
}

/// Values of the program's own types.
struct Data {
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};
/// Of `data`, all elements.
std::uint64_t bytes_of(const Data&);

/// What goes ahead of data.
struct Stamp {
  /// When an emulated link shows it, and when it was sent by the sender's clock; nanoseconds.
  std::int64_t visible_at = 0, sent_at = 0;
  /// Of whom it is, where that is not clear, and of which operation.
  std::uint32_t of = 0, operation = 0;
};

}  // namespace piracema::coll::mpi
