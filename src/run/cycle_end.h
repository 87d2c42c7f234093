#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "run/packet.h"

namespace piracema::runtime {

/// Finds out when nothing is left in a cycle, so that it can end: one replica's part of it.
///
/// A head of the cycle whose other inputs have ended sends a probe round; everybody in the cycle
/// passes it on when it has come by all his inputs of the cycle, behind what he made of the items
/// before it. If no item has come back before the probe did, the round was quiet. A probe counts
/// the quiet rounds of all heads it has heard of. After as many quiet rounds in a row as there are
/// heads, every head has had the same one quiet, so that nothing was under way, and nothing can be
/// since. (A round of markers in the manner of Chandy and Lamport 1985, and a count that spreads as
/// in Szymanski et al. 1985: no head has to know the others.)
class CycleEnd {
 public:
  /// Which inputs belong to the cycle, and of how many heads it is.
  CycleEnd(std::vector<bool> in_cycle, bool is_head, std::uint32_t heads);

  // ---- each returns the probe that is to be sent on, if any
  std::optional<Probe> on_end(std::size_t input);
  std::optional<Probe> on_probe(std::size_t input, const Probe& probe);

  /// Items came by an input of the cycle.
  void on_items() { busy_ = true; }

  /// A head: the cycle is empty, and nothing will come into it any more.
  bool is_empty() const { return empty_; }

 private:
  enum class State { open, probed, ended };
  std::optional<Probe> advance();

  const bool is_head_;
  const std::uint32_t heads_;
  std::vector<bool> in_cycle_;
  std::vector<State> inputs_;
  std::size_t outside_open_ = 0;
  /// The least that a probe of this round said.
  std::uint32_t least_ = 0;
  std::uint32_t quiet_ = 0;
  std::uint64_t round_ = 0;
  bool busy_ = false;
  bool empty_ = false;
};

}  // namespace piracema::runtime
