#include "topology/trees/tree.h"

#include <algorithm>
#include <map>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::coll {

Tree hang(Rank size, Rank root, const std::vector<std::pair<Rank, Rank>>& edges) {
  ENSURE(edges.size() + 1 == size);
  std::vector<std::vector<Rank>> next_to(size);
  for (const auto& [a, b] : edges) {
    next_to[a].push_back(b);
    next_to[b].push_back(a);
  }
  Tree tree(size, root);
  std::vector<Rank> order{root};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const Rank next : next_to[order[i]]) {
      if (next == tree.parent[order[i]]) continue;
      tree.adopt(order[i], next);
      order.push_back(next);
    }
  }
  ENSURE(order.size() == size);
  return tree;
}

std::vector<Rank> top_down(const Tree& tree) {
  std::vector<Rank> order{tree.root};
  order.reserve(tree.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& children = tree.children[order[i]];
    order.insert(order.end(), children.begin(), children.end());
  }
  return order;
}

std::vector<double> arrivals(const Tree& tree, const Costs& costs) {
  std::vector<double> at(tree.size(), 0);
  for (const Rank rank : top_down(tree)) {
    double free = at[rank];
    for (const Rank child : tree.children[rank]) {
      const SendCost cost = costs.cost(rank, child);
      at[child] = free + cost.delay;
      free += cost.busy;
    }
  }
  return at;
}

double completion(const Tree& tree, const Costs& costs) {
  const auto at = arrivals(tree, costs);
  return *std::max_element(at.begin(), at.end());
}

void order_children(Tree& tree, const Costs& costs) {
  // How long each subtree takes once its top has the message; leaves first.
  std::vector<double> needs(tree.size(), 0);
  auto order = top_down(tree);
  std::reverse(order.begin(), order.end());
  for (const Rank rank : order) {
    auto& children = tree.children[rank];
    const auto after_send = [&](Rank child) {
      const SendCost cost = costs.cost(rank, child);
      return cost.delay - cost.busy + needs[child];
    };
    std::stable_sort(children.begin(), children.end(),
                     [&](Rank a, Rank b) { return after_send(a) > after_send(b); });
    double free = 0;
    for (const Rank child : children) {
      const SendCost cost = costs.cost(rank, child);
      needs[rank] = std::max(needs[rank], free + cost.delay + needs[child]);
      free += cost.busy;
    }
  }
}

namespace {

// A tree may be a chain of all ranks, so there is no recursion here.
struct Frame {
  Rank rank;
  std::size_t place;
  std::size_t next_child = 0;
};

}  // namespace

Branches to_branches(const Tree& tree) {
  Branches out{{tree.root, 0}};
  std::vector<Frame> path{{tree.root, 0}};
  while (!path.empty()) {
    Frame& top = path.back();
    const auto& children = tree.children[top.rank];
    if (top.next_child < children.size()) {
      const Rank child = children[top.next_child++];
      path.push_back({child, out.size()});
      out.push_back({child, 0});
    } else {
      out[top.place].below = static_cast<std::uint32_t>(out.size() - top.place - 1);
      path.pop_back();
    }
  }
  return out;
}

std::vector<std::span<const Branch>> children_of(std::span<const Branch> branches) {
  std::vector<std::span<const Branch>> children;
  for (std::size_t i = 1; i < branches.size(); i += branches[i].below + std::size_t{1}) {
    children.push_back(branches.subspan(i, branches[i].below + std::size_t{1}));
  }
  return children;
}

Result<Done> check(std::span<const Branch> branches, Rank size) {
  const auto wrong = [](const std::string& what) { return Error{Errc::corrupt, "tree: " + what}; };
  if (branches.empty()) return wrong("want a rank at least, found none");
  std::vector<bool> seen(size, false);
  // Ends of the subtrees that we are in, the innermost last.
  std::vector<std::size_t> ends{branches.size()};
  for (std::size_t i = 0; i < branches.size(); ++i) {
    const auto [rank, below] = branches[i];
    if (rank >= size) return wrong(concat("want ranks below ", size, ", found ", rank));
    if (seen[rank]) return wrong(concat("rank ", rank, " is there twice"));
    seen[rank] = true;
    while (ends.size() > 1 && ends.back() == i) ends.pop_back();
    const std::size_t end = i + 1 + below;
    if (end > ends.back() || (i == 0 && end != branches.size())) {
      return wrong(concat("a subtree of ", below, " ranks does not fit"));
    }
    ends.push_back(end);
  }
  return Done{};
}

namespace {

/// The place of each one's parent; the first one is its own.
std::vector<std::size_t> parents_of(std::span<const Branch> branches) {
  std::vector<std::size_t> parents(branches.size(), 0);
  for (std::size_t i = 0; i < branches.size(); ++i) {
    for (std::size_t child = i + 1; child <= i + branches[i].below;
         child += branches[child].below + std::size_t{1}) {
      parents[child] = i;
    }
  }
  return parents;
}

}  // namespace

Branches reached_otherwise(std::span<const Branch> former, std::span<const Branch> tree) {
  std::map<Rank, Rank> parent_before;
  const auto before = parents_of(former), now = parents_of(tree);
  for (std::size_t i = 0; i < former.size(); ++i) {
    parent_before[former[i].rank] = former[before[i]].rank;
  }
  // Parents stand before their children.
  std::vector<bool> other(tree.size(), false), needed(tree.size(), false);
  for (std::size_t i = 1; i < tree.size(); ++i) {
    other[i] = other[now[i]] || parent_before[tree[i].rank] != tree[now[i]].rank;
    if (!other[i]) continue;
    for (std::size_t up = i; !needed[up]; up = now[up]) needed[up] = true;
  }
  Branches wanted;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (!needed[i]) continue;
    const auto first = needed.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto below = std::count(first, first + tree[i].below, true);
    wanted.push_back({tree[i].rank, static_cast<std::uint32_t>(below)});
  }
  return wanted;
}

Tree to_tree(std::span<const Branch> branches) {
  Tree tree(static_cast<Rank>(branches.size()), branches.front().rank);
  for (std::size_t i = 0; i < branches.size(); ++i) {
    for (const auto child : children_of(branches.subspan(i, branches[i].below + std::size_t{1}))) {
      tree.adopt(branches[i].rank, child.front().rank);
    }
  }
  return tree;
}

}  // namespace piracema::coll
