#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coll/mpi/exchange.h"
#include "coll/mpi/mpi_types.h"
#include "coll/mpi/world.h"
#include "coll/plan/plan.h"

namespace piracema::coll::mpi {

class MstRunner;

/// What the library keeps for one communicator of the program, as an attribute of it: a
/// communicator of its own with the same ranks, and how collectives on it go. Used by the thread
/// that calls the collective; MPI allows one at a time.
class Group {
 public:
  /// The group of a communicator, made when it is first asked for (then it is collective). nullptr
  /// if collectives on this one are always the MPI library's own: intercommunicators, a single
  /// rank, ranks of other worlds.
  static Group* of(World&, MPI_Comm);
  static int destroy(Group*);
  ~Group();

  Rank me() const { return me_; }
  Rank size() const { return exchange_.size(); }
  Exchange& exchange() { return exchange_; }
  World& world() { return world_; }
  MPI_Comm user() const { return user_; }

  /// Every rank calls it for every operation, in the same order. Takes over the plan of a window
  /// that begins.
  void begin_operation();
  std::uint32_t operation() const { return operation_ - 1; }
  const Plan& plan() const { return plan_; }

  /// The tree for a message from this rank, as things are now.
  const Branches& tree(std::uint64_t bytes);
  /// The plan's tree for values that come up, as it hangs from `root`.
  const Tree& up(Rank root);
  /// Links among the ranks of this group; nothing is known of bandwidth.
  LinkTable links() const;
  MstRunner& mst();

  /// Takes what was sent to this rank ahead of time, so that nothing is under way any more.
  void drain();

 private:
  Group(World&, MPI_Comm user, MPI_Comm own, std::vector<Rank> world_ranks);
  void send_next_plan(std::uint32_t window);
  Plan receive_plan(std::uint32_t window);
  void note(const Tree&, const LinkTable&, std::uint64_t bytes);

  struct Kept {
    std::uint64_t version = ~std::uint64_t{0};
    Time made_at{}, took{};
    Branches branches;
  };

  World& world_;
  const MPI_Comm user_;
  const std::vector<Rank> world_ranks_;
  Exchange exchange_;
  const Rank me_;
  std::uint32_t operation_ = 0;
  std::uint32_t window_ = 0;
  Plan plan_, next_plan_;
  Outbox plans_under_way_;
  std::map<Rank, Tree> up_;
  /// By the number of binary digits of the message's size.
  std::map<int, Kept> trees_;
  std::vector<std::uint32_t> sites_;
  std::unique_ptr<MstRunner> mst_;
};

}  // namespace piracema::coll::mpi
