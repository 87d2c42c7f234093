#pragma once

#include <piracema/graph.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/engine.h"
#include "flow/nearness.h"
#include "flow/plan.h"

namespace piracema::flow {

/// How much each replica of a node has to do, in any unit, by the numbers of nodes.
using Work = std::vector<double>;

/// What is known of replicas and processes beside the graph.
struct Known {
  Work work;
  /// How much each node sends, in any unit, by the numbers of nodes: its edges share it. Empty: all
  /// edges have as much.
  std::vector<double> sent;
  /// By the numbers of processes. One that has none is on a host of its own, at a site of its own;
  /// empty: all are equally far from each other.
  std::vector<Location> locations;
};

/// By what the program has said of its nodes (`cost_ns`): each item passes each node once, and the
/// replicas of a node share them. A node that said nothing counts as the average of those that did;
/// if none did, all replicas count alike.
Work declared_work(const GraphShape& shape);

/// What all replicas of a node did in an earlier run, by its name.
struct EarlierRun {
  /// Seconds. Empty: there was none.
  std::map<std::string, double> busy;
  /// Bytes. Empty: nobody knows.
  std::map<std::string, double> sent;
};

/// What is declared, or was measured if there was an earlier run. Errc::config for a node that was
/// not in it.
Result<Known> known_of(const GraphShape& shape, const EarlierRun& earlier,
                       std::vector<Location> locations);

/// Which process each replica runs in: as much to do in each as can be, and then as little from one
/// to another as can be (paper 004, section 6, leaves groups by themselves to the future). What
/// goes from host to host counts ten times what stays on one, and what goes from site to site ten
/// times that. So replicas of a farm come to lie on as many processes as there are, and a pipeline
/// of single replicas goes from site to site as seldom as it can. The same for equal arguments.
/// `slots` is at least 1.
std::vector<std::uint32_t> place(const GraphShape& shape, const Plan& plan, std::uint32_t slots,
                                 const Known& known);
inline std::vector<std::uint32_t> place(const GraphShape& shape, const Plan& plan,
                                        std::uint32_t slots) {
  return place(shape, plan, slots, {declared_work(shape), {}, {}});
}

/// Where a plan of the same nodes runs now, and which is to follow it.
struct Placed {
  const GraphShape& shape;
  const Plan& plan;
  const std::vector<std::uint32_t>& slots;
};
/// The processes of a plan that follows another one: whoever was there before stays where it is, as
/// long as that is one of `slots`. The others go to where least is to do, of several such processes
/// to the nearest, and then so many move from where most is to where least is that no process has a
/// whole replica's work more than another one that could have it. The same for equal arguments.
std::vector<std::uint32_t> place_again(const Placed& before, const GraphShape& shape,
                                       const Plan& plan, std::uint32_t slots, const Known& known);

}  // namespace piracema::flow
