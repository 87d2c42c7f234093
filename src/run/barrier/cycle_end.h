#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "run/packet/packet.h"

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

  // ---- each returns the probe that is to be sent on, if any; then `go_on` is asked
  std::optional<Probe> on_end(std::size_t input);
  std::optional<Probe> on_probe(std::size_t input, const Probe& probe);

  /// Another probe to be sent, when those of others were there before.
  std::optional<Probe> go_on() { return advance(); }

  /// Items came by an input of the cycle.
  void on_items() { busy_ = true; }

  /// A head: the cycle is empty, and nothing will come into it any more.
  bool is_empty() const { return empty_; }

 private:
  struct Input {
    bool in_cycle = false;
    bool ended = false;
    /// What probes said that came and were not waited for yet: a head may be ahead of one that it
    /// hears of by others alone.
    std::deque<std::uint32_t> probes;
  };
  std::optional<Probe> advance();

  const bool is_head_;
  const std::uint32_t heads_;
  std::vector<Input> inputs_;
  std::size_t outside_open_ = 0;
  std::uint32_t quiet_ = 0;
  std::uint64_t round_ = 0;
  bool busy_ = false;
  bool empty_ = false;
};

}  // namespace piracema::runtime
