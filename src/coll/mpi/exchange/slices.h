#pragma once

#include <vector>

#include "coll/mpi/exchange/exchange.h"

namespace piracema::coll::mpi {

/// Elements of a type in slices, each of some bytes: what one message of a large reduction has.
class Slices {
 public:
  /// Slices of about `bytes`, one element at least.
  Slices(Data data, std::uint64_t bytes);
  std::size_t count() const { return count_; }
  Data operator[](std::size_t i) const;
  /// Elements of a slice, of the last one at most as many.
  int length() const { return length_; }

 private:
  Data data_;
  MPI_Aint extent_ = 0;
  int length_ = 1;
  std::size_t count_ = 0;
};

/// Room for elements of a type, which may begin before or behind their address.
class Room {
 public:
  Room(int count, MPI_Datatype type);
  void* get() { return begin_; }
  Data data() { return {begin_, count_, type_}; }

 private:
  int count_;
  MPI_Datatype type_;
  std::vector<char> memory_;
  char* begin_;
};

}  // namespace piracema::coll::mpi
