#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <span>
#include <string>
#include <vector>

#include "topology/trees/tree.h"

namespace piracema::coll {

/// What goes down a tree ahead of the data, or with it when there is little: docs/formats/coll.md.
struct Header {
  /// The number of the operation on its communicator.
  std::uint32_t operation = 0;
  /// The receiver, and all that are below it, for it to pass on to.
  Branches branches;
  /// All of the data, as the root has it.
  std::uint64_t data_bytes = 0;
  /// Data that comes in the same message.
  std::string payload;
  /// Else it follows in segments of so many bytes, the last one shorter; 0: it does not, `whole`:
  /// in one message of the program's own type.
  std::uint32_t segment_bytes = 0;
  static constexpr std::uint32_t whole = ~std::uint32_t{0};
  /// Trees for what comes up from the next operation on, and their version; 0: those that are
  /// known.
  std::uint32_t up_version = 0;
  Branches up, up_large;
  /// The paper's engine: the round in whose tree it goes, of which the receiver knows its part.
  /// `no_round`: along `branches`.
  std::uint32_t round = no_round;
  static constexpr std::uint32_t no_round = ~std::uint32_t{0};
};

/// Appends the message for one child: `branches` and the payload are not copied on the way.
std::vector<char> encode(const Header&, std::span<const Branch> branches);
inline std::vector<char> encode(const Header& header) { return encode(header, header.branches); }
/// At most so long, whatever the tree.
std::size_t encoded_bytes_max(Rank size, std::size_t payload);
/// Errc::corrupt for what is no header among `size` ranks.
Result<Header> decode(std::span<const char> in, Rank size);

}  // namespace piracema::coll
