#pragma once

#include <map>
#include <vector>

#include "base/ensure.h"
#include "topology/mst/message.h"

namespace piracema::coll::mst {

enum class EdgeState : std::uint8_t {
  basic,     ///< Not looked at yet.
  branch,    ///< In the tree.
  rejected,  ///< Known to join two nodes of one fragment.
};

/// The edges of one node.
class Edges {
 public:
  struct Edge {
    Weight weight;
    EdgeState state = EdgeState::basic;
    auto operator<=>(const Edge&) const = default;
  };

  void set(Rank to, Weight weight) { edges_[to].weight = weight; }
  bool has(Rank to) const { return edges_.contains(to); }
  const Weight& weight(Rank to) const { return at(to).weight; }
  EdgeState state(Rank to) const { return at(to).state; }
  bool is_branch(Rank to) const { return at(to).state == EdgeState::branch; }
  void mark(Rank to, EdgeState state) {
    ENSURE(has(to));
    edges_[to].state = state;
  }
  /// What was rejected may leave the fragment again once the tree has come apart.
  void forget_rejected() {
    for (auto& [to, edge] : edges_) {
      if (edge.state == EdgeState::rejected) edge.state = EdgeState::basic;
    }
  }
  std::vector<Rank> branches(Rank but = no_rank) const {
    std::vector<Rank> out;
    for (const auto& [to, edge] : edges_) {
      if (edge.state == EdgeState::branch && to != but) out.push_back(to);
    }
    return out;
  }
  /// The other end of the lightest edge that was not looked at; no_rank if there is none.
  Rank lightest_basic() const {
    Rank best = no_rank;
    for (const auto& [to, edge] : edges_) {
      if (edge.state != EdgeState::basic) continue;
      if (best == no_rank || edge.weight < at(best).weight) best = to;
    }
    return best;
  }
  const std::map<Rank, Edge>& all() const { return edges_; }
  auto operator<=>(const Edges&) const = default;

 private:
  const Edge& at(Rank to) const {
    const auto found = edges_.find(to);
    ENSURE(found != edges_.end());
    return found->second;
  }
  std::map<Rank, Edge> edges_;
};

}  // namespace piracema::coll::mst
