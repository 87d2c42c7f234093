#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "smr/service/executor/executor.h"
#include "smr/service/executor/key_table.h"
#include "smr/service/executor/thrift.h"

namespace piracema::smr {

/// Which operations of a window have to wait for which: those that conflict, in their order
/// (Kotla and Dahlin 2004: a graph of dependencies between the order and the threads). Conflicts
/// are those of StateMachine::keys, so nobody's word is taken for them. Memory is reused.
class ConflictGraph {
 public:
  static constexpr std::uint32_t none = 0xFFFF'FFFF;

  void build(std::span<const Task> tasks, const StateMachine& machine);

  /// How so many threads would do it.
  Prospect prospect(unsigned threads) const;
  /// So many operations may be executed at the same time, at the most.
  std::size_t width() const;

  /// For how many the operation has to wait.
  std::uint32_t waits(std::uint32_t task) const { return nodes_[task].waits; }
  /// Calls `visit` for each operation that waits for this one, as often as it is counted there.
  template <class Visit>
  void for_each_successor(std::uint32_t task, const Visit& visit) const {
    for (auto edge = nodes_[task].edge; edge != none; edge = edges_[edge].next) {
      visit(edges_[edge].to);
    }
  }

 private:
  struct Node {
    std::uint32_t waits = 0;
    std::uint32_t edge = none;
    /// The longest way from an operation that waits for nobody.
    std::uint32_t level = 0;
  };
  struct Edge {
    std::uint32_t to, next;
  };
  /// Of one key: who wrote it last, and who has read it since (a list in `readers_`).
  struct Users {
    std::uint32_t writer = none;
    std::uint32_t readers = none;
  };
  struct Reader {
    std::uint32_t task, next;
  };

  void add_barrier(std::uint32_t task);
  void add_reads(std::uint32_t task, std::span<const std::uint64_t> keys);
  void add_writes(std::uint32_t task, std::span<const std::uint64_t> keys);
  void order(std::uint32_t before, std::uint32_t after);

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<Reader> readers_;
  KeyTable<Users> users_;
  /// The last operation that conflicts with all, and those after it.
  std::uint32_t barrier_ = none;
  std::vector<std::uint32_t> since_barrier_;
  /// How many operations are on each level.
  std::vector<std::uint32_t> levels_;
};

}  // namespace piracema::smr
