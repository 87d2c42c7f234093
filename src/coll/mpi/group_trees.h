#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/clock.h"
#include "coll/mpi/exchange/mpi_types.h"
#include "topology/message/header.h"
#include "topology/trees/tree.h"

namespace piracema::coll::mpi {

class World;

/// The links among the ranks of a group, as this rank knows them now, and the trees from this rank
/// along them. Used by the thread that calls the collective.
class GroupTrees {
 public:
  /// `world` outlives it. `world_ranks`: the ranks of the group, by the world's numbers.
  GroupTrees(World& world, std::vector<Rank> world_ranks, Rank me)
      : world_(world), world_ranks_(std::move(world_ranks)), me_(me) {}

  /// The tree for a message of so many bytes, as things are now.
  const Branches& from_here(std::uint64_t bytes);
  /// What the MPI library's own collective is along, where links are emulated.
  const Branches& binomial();

  LinkTable links() const;
  /// The same; the bandwidth of those that have shown none is guessed.
  LinkTable guessed_links() const;
  /// Another one once the links have changed.
  std::uint64_t version() const;
  bool all_measured() const;
  /// Large data has come from a rank, a megabyte in so many seconds.
  void on_transfer(Rank from, double megabyte);
  /// For two levels: which site each rank is at, by the links as they were when all were known
  /// first; empty with other engines.
  std::vector<std::uint32_t> sites(const LinkTable& known);

 private:
  Rank size() const { return static_cast<Rank>(world_ranks_.size()); }
  /// A tree came into use.
  void note(const Tree&, const LinkTable&, std::uint64_t bytes);

  struct Kept {
    std::uint64_t version = ~std::uint64_t{0};
    Time made_at{}, took{};
    Branches branches;
  };

  World& world_;
  const std::vector<Rank> world_ranks_;
  const Rank me_;
  /// By the number of binary digits of the message's size.
  std::map<int, Kept> trees_;
  Branches binomial_;
  std::vector<std::uint32_t> sites_;
};

}  // namespace piracema::coll::mpi
