#pragma once

#include <map>
#include <memory>
#include <vector>

#include "coll/mpi/exchange/exchange.h"
#include "coll/mpi/exchange/mpi_types.h"
#include "coll/mpi/group_trees.h"
#include "coll/mpi/windows.h"
#include "coll/mpi/world.h"

namespace piracema::coll::mpi {

class MstRunner;

/// What the library keeps for one communicator of the program, as an attribute of it: a
/// communicator of its own with the same ranks, and how collectives on it go. Used by the thread
/// that calls the collective; MPI allows one at a time.
class Group {
 public:
  /// The group of a communicator, made when it is first asked for (then it is collective). nullptr
  /// if collectives on this one are always the MPI library's own: intercommunicators, a single
  /// rank, ranks of other worlds, more communicators than `most_at_a_time`.
  static Group* of(World&, MPI_Comm);
  /// MPICH has 2,048 communicators in a process, of which the program may want nearly all.
  static constexpr int most_at_a_time = 128;
  static int destroy(Group*);
  ~Group();

  Rank me() const { return exchange_.me(); }
  Rank size() const { return exchange_.size(); }
  Exchange& exchange() { return exchange_; }
  World& world() { return world_; }
  MPI_Comm user() const { return user_; }

  /// The group of a communicator that has one already; nobody waits for anybody.
  static Group* find(World&, MPI_Comm);

  /// As Windows has it; at rank 0 it is shown now and then, if somebody looks on.
  Way begin_operation(Call, std::uint64_t bytes, bool always_ours = false);
  void end_operation(Time took) { windows_->end_operation(took); }
  std::uint32_t operation() const { return windows_->operation(); }
  Windows& windows() { return *windows_; }

  /// The tree for a message from this rank, as things are now. With the paper's engine a minimum
  /// spanning tree as well, of what this rank knows of the links.
  const Branches& tree(std::uint64_t bytes);
  GroupTrees& trees() { return trees_; }
  /// The paper's engine; nullptr with any other, and where links cannot be measured.
  MstRunner* mst() const { return mst_.get(); }
  /// With the paper's engine: along which trees this rank's broadcasts went.
  struct MstUse {
    /// Before a round was over here: along a binomial tree, as links were not measured, and along
    /// the minimum spanning tree of what this rank knew of all links.
    std::uint64_t binomial = 0, own_view = 0;
    /// The same after some round was over; there should be none.
    std::uint64_t fallen_back = 0;
    std::map<std::uint32_t, std::uint64_t> rounds;
  };
  MstUse& mst_use() { return mst_use_; }

  static constexpr std::chrono::seconds drain_takes_most{5};

 private:
  Group(World&, MPI_Comm user, MPI_Comm own, std::vector<Rank> world_ranks);
  void show();

  World& world_;
  const MPI_Comm user_;
  Exchange exchange_;
  GroupTrees trees_;
  std::unique_ptr<Windows> windows_;
  std::unique_ptr<MstRunner> mst_;
  MstUse mst_use_;
  Time shown_at_{};
};

}  // namespace piracema::coll::mpi
