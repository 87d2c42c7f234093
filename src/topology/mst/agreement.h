#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "topology/trees/costs.h"

namespace piracema::coll::mst {

/// The costs that one round is to use, agreed on with each neighbour. Two ends measure a link
/// differently, and GHS goes wrong when they weigh it differently: each tells the other what it
/// has measured, and both take the mean. A link whose mean has changed by less than `threshold` of
/// what it was in the last round keeps that (the paper's 10 % and 70 %). So does one that has
/// changed by less than a hundredth of the heaviest link of either end: near links tremble on
/// machines that are busy, and each change costs some ways along the whole tree, one change after
/// the other. Pure.
class Agreement {
 public:
  /// A part of the cost, 0 or more.
  explicit Agreement(double threshold) : threshold_(threshold) {}

  /// What this node has measured for the next round: to be sent to each neighbour.
  void measured(std::vector<std::pair<Rank, double>> costs);
  /// The heaviest of those: goes with each of them.
  double heaviest() const { return heaviest_; }
  /// What a neighbour has sent for that round. Each round one offer of each comes, in order.
  void on_offer(Rank from, double cost, double heaviest) {
    offers_[from].push_back({cost, heaviest});
  }
  /// Whether costs have changed so that the tree may become another one, if their other ends see it
  /// so: a neighbour in the tree got farther, or one that is not in it nearer. Nothing else can
  /// make a minimum spanning tree a different one.
  bool may_change_tree(const std::vector<std::pair<Rank, double>>& costs,
                       const std::vector<Rank>& in_tree) const;
  /// Some neighbour is about to begin the next round.
  bool has_offer() const;

  /// The costs, once all offers are there; each round once. The ends of a link get the same.
  std::optional<std::vector<std::pair<Rank, double>>> agreed();

 private:
  struct Offer {
    double cost, heaviest;
  };

  bool is_change(double before, double after, double heaviest) const;

  double threshold_;
  double heaviest_ = 0;
  std::vector<std::pair<Rank, double>> mine_;
  std::map<Rank, std::vector<Offer>> offers_;
  std::map<Rank, double> last_;
};

}  // namespace piracema::coll::mst
