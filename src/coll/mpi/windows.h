#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "coll/mpi/departures.h"
#include "coll/mpi/exchange/exchange.h"
#include "coll/mpi/group_trees.h"
#include "coll/mpi/plans.h"
#include "coll/plan/planner.h"
#include "topology/message/header.h"

namespace piracema::coll::mpi {

/// The operations of a communicator, in windows: how those of a window go is its plan, which rank 0
/// makes of what the windows before have cost at all ranks. So rank 0 knows who is how far, too,
/// and nobody runs far ahead. Used by the thread that calls the collective. Errors of MPI are
/// thrown.
class Windows {
 public:
  /// All outlive it; `probes` may be null. `number` as for Plans.
  Windows(Exchange& exchange, GroupTrees& trees, Engine engine, ProbeThread* probes,
          std::uint64_t number, std::vector<Rank> world_ranks);

  /// Every rank calls it for every operation, in the same order. Takes over the plan of a window
  /// that begins. Whose collective it is to be; all ranks get the same answer.
  Way begin_operation(Call, std::uint64_t bytes, bool always_ours);
  /// The operation that was begun last has taken so long.
  void end_operation(Time took);
  std::uint32_t operation() const { return operation_ - 1; }
  /// The same for one that must not wait for others: it goes as the window goes that was there
  /// before. Its number, if it is ours.
  std::optional<std::uint32_t> begin_nonblocking(std::uint64_t bytes);
  Way way() const { return way_; }
  /// The operation that was begun last is the first of its window.
  bool at_first() const { return in_window_ == 1; }
  const Plan& plan() const { return plan_; }

  /// The plan's tree for values that come up, few bytes or many, as it hangs from `root`.
  const Tree& up(Rank root, bool large);
  /// At rank 0: puts other trees than those in use into what goes down from it to all.
  void tell_trees(Header&);
  /// Uses them from the next operation on. All ranks get the same.
  void take_trees(const Header&);
  /// At rank 0: what calls have taken; nullptr elsewhere.
  const WindowCosts* spent() const { return planner_ ? &planner_->spent() : nullptr; }

  /// Tells the others that this rank calls no more operations.
  void leave() { departures_.leave(); }
  /// Takes what was sent to this rank ahead of time, so that nothing is under way any more; at the
  /// end, behind `leave`, also who has left. Ranks that have not called the same operations are
  /// waited for until then, and no longer.
  void drain(Time until, bool at_the_end);

 private:
  Rank size() const { return exchange_.size(); }
  void begin_window();
  void plan_next_window();
  /// At rank 0, if they have changed: has the planner know the links.
  void look_at_links();
  /// None if rank 0 has left.
  std::optional<Plan> receive_plan(std::uint32_t window);
  /// Takes what others tell of their windows; waits for those who are far behind.
  void hear();
  void hear(const Told&, Rank from);
  bool hear_one();

  Exchange& exchange_;
  GroupTrees& trees_;
  const Engine engine_;
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
  std::map<std::tuple<Rank, bool, Way>, Tree> up_;
  Plans plans_;
  Departures departures_;
  /// What others tell rank 0.
  Outbox under_way_;
  /// At rank 0: what is to be in the next window, and who has come how far and has told of how
  /// many.
  std::optional<Planner> planner_;
  std::uint64_t planned_version_ = ~std::uint64_t{0};
  Time planned_at_{}, planning_took_{};
  std::vector<std::uint32_t> heard_operation_;
  std::uint64_t heard_ = 0;
};

}  // namespace piracema::coll::mpi
