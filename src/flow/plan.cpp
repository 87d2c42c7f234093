#include "flow/plan.h"

#include <algorithm>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::flow {

namespace {

std::vector<std::uint32_t> first_replicas(const GraphShape& shape) {
  std::vector<std::uint32_t> first;
  std::uint32_t next = 0;
  for (const NodeShape& node : shape.nodes) {
    first.push_back(next);
    next += node.replicas;
  }
  return first;
}

std::vector<std::uint32_t> replicas_of(const GraphShape& shape, std::uint32_t node) {
  std::vector<std::uint32_t> all(shape.nodes[node].replicas);
  std::uint32_t next = first_replicas(shape)[node];
  for (std::uint32_t& replica : all) replica = next++;
  return all;
}

// Enough for every replica on the way to hold its few batches, so that the bound is felt only
// when one of them is far behind the others.
std::uint32_t window_over(const GraphShape& shape, std::size_t from, std::size_t to) {
  std::uint32_t replicas = 0;
  for (std::size_t node = from; node <= to; ++node) replicas += shape.nodes[node].replicas;
  return 16 + 4 * replicas;
}

// Items between `from`, which starts an order, and `to`, which goes by it, carry that order.
// Where every node on the way has one replica, channels keep the order by themselves.
void mark_order(const GraphShape& shape, Plan& plan, std::size_t from, std::size_t to) {
  const bool in_order_anyway =
      std::all_of(shape.nodes.begin() + static_cast<std::ptrdiff_t>(from) + 1,
                  shape.nodes.begin() + static_cast<std::ptrdiff_t>(to) + 1,
                  [](const NodeShape& node) { return node.replicas == 1; });
  if (in_order_anyway) return;
  for (ReplicaPlan& replica : plan.replicas) {
    if (replica.node >= from && replica.node < to) replica.ordered_output = true;
    if (replica.node > from && replica.node <= to) replica.ordered_input = true;
    if (replica.node == from) {
      replica.starts_order = true;
      replica.window = window_over(shape, from, to);
    }
    if (replica.node == to) {
      replica.origins = replicas_of(shape, static_cast<std::uint32_t>(from));
    }
  }
}

}  // namespace

Plan make_plan(const GraphShape& shape) {
  ENSURE(validate(shape).ok());
  Plan plan;
  for (std::uint32_t node = 0; node < shape.nodes.size(); ++node) {
    ReplicaPlan replica{.node = node};
    for (std::uint32_t edge = 0; edge < shape.edges.size(); ++edge) {
      if (shape.edges[edge].to == node) {
        replica.inputs = replicas_of(shape, shape.edges[edge].from);
      }
      if (shape.edges[edge].from == node) {
        replica.edge = edge;
        replica.outputs = replicas_of(shape, shape.edges[edge].to);
      }
    }
    for (replica.index = 0; replica.index < shape.nodes[node].replicas; ++replica.index) {
      plan.replicas.push_back(replica);
    }
  }
  std::size_t origin = 0;
  for (std::size_t node = 1; node < shape.nodes.size(); ++node) {
    if (!shape.nodes[node].ordered) continue;
    mark_order(shape, plan, origin, node);
    origin = node;
  }
  return plan;
}

std::vector<std::uint32_t> place(const GraphShape& shape, const Plan& plan, std::uint32_t slots) {
  ENSURE(slots >= 1);
  // Farms first, as they carry the work; the rest goes to where least is.
  std::vector<std::uint32_t> order(plan.replicas.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return shape.nodes[plan.replicas[a].node].replicas > shape.nodes[plan.replicas[b].node].replicas;
  });
  std::vector<std::uint32_t> placement(plan.replicas.size());
  std::vector<std::uint32_t> load(slots);
  for (const std::uint32_t replica : order) {
    const auto least = std::min_element(load.begin(), load.end());
    placement[replica] = static_cast<std::uint32_t>(least - load.begin());
    *least += 1;
  }
  return placement;
}

std::string replica_name(const GraphShape& shape, const ReplicaPlan& replica) {
  const NodeShape& node = shape.nodes[replica.node];
  if (node.replicas == 1) return node.name;
  return concat(node.name, "/", replica.index);
}

}  // namespace piracema::flow
