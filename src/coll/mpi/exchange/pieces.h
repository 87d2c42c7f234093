#pragma once

#include <piracema/error.h>

#include <span>
#include <vector>

#include "topology/trees/costs.h"

namespace piracema::coll::mpi {

/// One rank's part of a gather or scatter, on its way along a tree. A large one is only announced:
/// it goes straight from the one to the other, since relays would only slow it down.
struct Piece {
  Rank of = 0;
  bool direct = false;
  std::vector<char> bytes;
};

void append(std::vector<char>& out, const Piece&);
/// Errc::corrupt for what are no pieces of ranks below `size`.
Result<std::vector<Piece>> read_pieces(std::span<const char> in, Rank size);

}  // namespace piracema::coll::mpi
