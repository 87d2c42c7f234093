#include "coll/plan/plan.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "topology/trees/classic.h"
#include "topology/trees/earliest_edge.h"
#include "topology/trees/segments.h"

namespace piracema::coll {

namespace {

struct PlanHead {
  std::uint32_t length = 0, ours = 0, trial = 0, up = 0, version = 0;
};
static_assert(call_classes <= 32 && sizeof(PlanHead) == 20);

}  // namespace

bool is_forced(Engine engine) { return engine != Engine::automatic && engine != Engine::native; }

std::vector<char> encode(const Plan& plan) {
  const PlanHead head{plan.length, static_cast<std::uint32_t>(plan.ours.to_ulong()),
                      static_cast<std::uint32_t>(plan.trial.to_ulong()),
                      static_cast<std::uint32_t>(plan.up.size()), plan.version};
  const std::size_t bytes = plan.up.size() * sizeof(Branch);
  std::vector<char> out(sizeof head + bytes + plan.up_large.size() * sizeof(Branch));
  std::memcpy(out.data(), &head, sizeof head);
  std::memcpy(out.data() + sizeof head, plan.up.data(), bytes);
  std::memcpy(out.data() + sizeof head + bytes, plan.up_large.data(),
              plan.up_large.size() * sizeof(Branch));
  return out;
}

Result<Plan> decode_plan(std::span<const char> in, Rank size) {
  const std::size_t bytes = size * sizeof(Branch);
  PlanHead head;
  if (in.size() != sizeof head + 2 * bytes) {
    return Error{Errc::corrupt, concat("plan: ", in.size(), " bytes for ", size, " ranks")};
  }
  std::memcpy(&head, in.data(), sizeof head);
  if (head.length < 1 || head.length > window_operations_max || head.up != size) {
    return Error{Errc::corrupt, concat("plan: a window of ", head.length, " operations")};
  }
  Plan plan{head.length, head.ours, head.trial, Branches(size), Branches(size), head.version};
  std::memcpy(plan.up.data(), in.data() + sizeof head, bytes);
  std::memcpy(plan.up_large.data(), in.data() + sizeof head + bytes, bytes);
  for (const Branches* up : {&plan.up, &plan.up_large}) {
    if (auto checked = check(*up, size); !checked) return checked.error();
  }
  return plan;
}

Tree tree_for(Engine engine, const LinkTable& links, Rank root, double bytes,
              const std::vector<std::uint32_t>& site_of) {
  if (engine == Engine::binomial) return binomial_tree(links.size(), root);
  if (engine == Engine::two_level) return two_level_tree(site_of, root);
  if (engine == Engine::mst) return minimum_spanning_tree(TableCosts(links, 0, 0), root);
  if (bytes > static_cast<double>(small_bytes_max)) {
    return segment_tree(SegmentCosts(links, send_overhead, bytes), root);
  }
  return fast_tree(TableCosts(links, send_overhead, bytes), root);
}

Plan make_plan(Engine engine, const LinkTable& links, const std::vector<std::uint32_t>& site_of) {
  Plan plan;
  plan.up = to_branches(tree_for(engine, links, 0, 0, site_of));
  plan.up_large = to_branches(tree_for(engine, links, 0, 1e6, site_of));
  if (is_forced(engine)) plan.ours.set();
  return plan;
}

Plan first_plan(Engine engine, Rank size) {
  Plan plan;
  if (engine == Engine::mst) plan.length = window_operations_max;
  plan.up = plan.up_large = to_branches(binomial_tree(size, 0));
  if (is_forced(engine)) plan.ours.set();
  return plan;
}

}  // namespace piracema::coll
