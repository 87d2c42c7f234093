#include "coll/plan/plan.h"

#include <cstring>

#include "base/text.h"
#include "coll/trees/classic.h"
#include "coll/trees/earliest_edge.h"

namespace piracema::coll {

namespace {

bool forced(Engine engine) {
  return engine == Engine::tree || engine == Engine::two_level || engine == Engine::binomial;
}

/// No link takes three times as long as another.
bool uniform(const LinkTable& links) {
  double least = -1, most = 0;
  for (Rank a = 0; a < links.size(); ++a) {
    for (Rank b = 0; b < a; ++b) {
      const double latency = links.at(a, b).latency;
      least = least < 0 ? latency : std::min(least, latency);
      most = std::max(most, latency);
    }
  }
  return most <= 3 * least;
}

bool pays(const LinkTable& links, double bytes) {
  // The library's own may know this network better than a binomial tree does.
  if (uniform(links)) return false;
  const TableCosts costs(links, send_overhead, bytes);
  const double ours = completion(fast_tree(costs, 0), costs);
  const double theirs = completion(binomial_tree(links.size(), 0), costs);
  return theirs - ours > std::max(50e-6, theirs / 10);
}

}  // namespace

std::vector<char> encode(const Plan& plan) {
  std::vector<char> out(2 + plan.up.size() * sizeof(Branch));
  out[0] = plan.ours_small;
  out[1] = plan.ours_large;
  if (!plan.up.empty()) std::memcpy(out.data() + 2, plan.up.data(), out.size() - 2);
  return out;
}

Result<Plan> decode_plan(std::span<const char> in, Rank size) {
  if (in.size() != 2 + size * sizeof(Branch)) {
    return Error{Errc::corrupt, concat("plan: ", in.size(), " bytes for ", size, " ranks")};
  }
  Plan plan{in[0] != 0, in[1] != 0, Branches(size)};
  std::memcpy(plan.up.data(), in.data() + 2, in.size() - 2);
  if (auto checked = check(plan.up, size); !checked) return checked.error();
  return plan;
}

std::optional<std::uint32_t> window_beginning_with(std::uint32_t operation) {
  if (operation >= 16) {
    if (operation % 16 != 0) return std::nullopt;
    return operation / 16 + 3;
  }
  switch (operation) {
    case 0:
      return 0;
    case 2:
      return 1;
    case 4:
      return 2;
    case 8:
      return 3;
    default:
      return std::nullopt;
  }
}

Tree tree_for(Engine engine, const LinkTable& links, Rank root, double bytes,
              const std::vector<std::uint32_t>& site_of) {
  if (engine == Engine::binomial) return binomial_tree(links.size(), root);
  if (engine == Engine::two_level) return two_level_tree(site_of, root);
  return fast_tree(TableCosts(links, send_overhead, bytes), root);
}

Plan make_plan(Engine engine, const LinkTable& links, const std::vector<std::uint32_t>& site_of) {
  Plan plan;
  plan.up = to_branches(tree_for(engine, links, 0, 0, site_of));
  if (forced(engine)) {
    plan.ours_small = plan.ours_large = true;
  } else if (engine == Engine::automatic) {
    plan.ours_small = pays(links, 0);
    plan.ours_large = pays(links, 1e6);
  }
  return plan;
}

Plan first_plan(Engine engine, Rank size) {
  Plan plan;
  plan.up = to_branches(binomial_tree(size, 0));
  plan.ours_small = plan.ours_large = forced(engine);
  return plan;
}

void guess_bandwidth(LinkTable& links) {
  for (Rank a = 0; a < links.size(); ++a) {
    for (Rank b = 0; b < links.size(); ++b) {
      Link& link = links.at(a, b);
      if (link.per_byte <= 0) link.per_byte = link.latency < 0.2e-3 ? 1e-9 : 1e-8;
    }
  }
}

}  // namespace piracema::coll
