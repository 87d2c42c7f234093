#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "coll/mpi/exchange/exchange.h"
#include "coll/mpi/exchange/mpi_types.h"
#include "coll/mpi/plans.h"
#include "coll/mpi/world.h"
#include "coll/plan/planner.h"
#include "topology/message/header.h"

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

  /// The group of a communicator that has one already; nobody waits for anybody.
  static Group* find(World&, MPI_Comm);

  /// Every rank calls it for every operation, in the same order. Takes over the plan of a window
  /// that begins. Whose collective it is to be; all ranks get the same answer.
  Way begin_operation(Call, std::uint64_t bytes, bool always_ours = false);
  /// The operation that was begun last has taken so long.
  void end_operation(Time took);
  std::uint32_t operation() const { return operation_ - 1; }
  /// The same for one that must not wait for others: it goes as the window goes that was there
  /// before. Its number, if it is ours.
  std::optional<std::uint32_t> begin_nonblocking(std::uint64_t bytes);

  /// The tree for a message from this rank, as things are now. With the paper's engine a minimum
  /// spanning tree as well, of what this rank knows of the links.
  const Branches& tree(std::uint64_t bytes);
  /// The plan's tree for values that come up, few bytes or many, as it hangs from `root`.
  const Tree& up(Rank root, bool large = false);
  /// At rank 0: puts other trees than those in use into what goes down from it to all.
  void tell_trees(Header&);
  /// Uses them from the next operation on. All ranks get the same.
  void take_trees(const Header&);
  /// Links among the ranks of this group.
  LinkTable links() const;
  /// At rank 0: what calls have taken; nullptr elsewhere.
  const WindowCosts* spent() const { return planner_ ? &planner_->spent() : nullptr; }
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
  bool all_measured() const;
  /// Large data has come from a rank, a megabyte in so many seconds.
  void on_transfer(Rank from, double megabyte);

  /// Tells the others that this rank calls no more operations, so that they do not wait for it.
  void leave();
  /// Takes what was sent to this rank ahead of time, so that nothing is under way any more; at the
  /// end, behind `leave`, also who has left. Ranks that have not called the same operations are
  /// waited for until then, and no longer.
  void drain(Time until, bool at_the_end);
  static constexpr std::chrono::seconds drain_takes_most{5};

 private:
  Group(World&, MPI_Comm user, MPI_Comm own, std::vector<Rank> world_ranks);
  void begin_window();
  void plan_next_window();
  /// At rank 0, if somebody looks on.
  void show();
  /// At rank 0, if they have changed: has the planner know the links.
  void look_at_links();
  /// None if rank 0 has left.
  std::optional<Plan> receive_plan(std::uint32_t window);
  /// Takes what others tell of their windows; waits for those who are far behind.
  void hear();
  void hear(const Told&, Rank from);
  bool hear_one();
  /// Rank 0 knows it of all, the others of rank 0.
  bool has_left(Rank);
  bool all_have_left();
  /// For two levels: which site each rank is at, by the links as they were when all were known
  /// first; empty with other engines.
  std::vector<std::uint32_t> sites(const LinkTable& known);
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
  /// Numbers messages: of all operations. `in_window_` counts those that begin windows.
  std::uint32_t operation_ = 0;
  std::uint32_t window_ = 0, in_window_ = 0, nonblocking_in_a_row_ = 0;
  bool began_ = false;
  /// The operation before is over, and has not failed.
  bool ended_ = true;
  Plan plan_, next_plan_;
  std::array<unsigned, call_classes> calls_{};
  unsigned call_class_ = 0;
  Way way_ = Way::theirs;
  WindowCosts costs_;
  std::unique_ptr<Plans> plans_;
  /// What others tell rank 0, and who leaves.
  Outbox under_way_;
  /// At rank 0: who has come how far, and who has told of how many windows.
  std::optional<Planner> planner_;
  std::uint64_t planned_version_ = ~std::uint64_t{0};
  Time planned_at_{}, planning_took_{};
  std::vector<std::uint32_t> heard_operation_;
  std::vector<bool> left_;
  std::uint64_t heard_ = 0;
  std::map<std::tuple<Rank, bool, Way>, Tree> up_;
  /// By the number of binary digits of the message's size.
  std::map<int, Kept> trees_;
  Branches binomial_;
  std::vector<std::uint32_t> sites_;
  std::unique_ptr<MstRunner> mst_;
  MstUse mst_use_;
  Time shown_at_{};
};

}  // namespace piracema::coll::mpi
