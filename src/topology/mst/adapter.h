#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "topology/mst/agreement.h"
#include "topology/mst/node.h"

namespace piracema::coll::mst {

/// An offer of a cost, with the sender's heaviest one, or a message of a node.
struct Letter {
  double offer = -1, heaviest = 0;
  Message message{};
};
std::string encode(const Letter&);
/// nullopt for what is none.
std::optional<Letter> decode_letter(std::span<const char> in);

/// One rank's part in a tree that is adapted round after round while messages go along it. The
/// paper has everybody wait for the end of a round; here the root of a broadcast says in which
/// round's tree it goes, and each rank keeps those that may still be asked for. Pure.
///
/// Why nobody waits: a root names a round that is over for it. The end of a round spreads over its
/// tree (gosleep_rec), so a message that follows the tree from a node where the round is over
/// comes after it everywhere.
class Adapter {
 public:
  using Letters = std::vector<std::pair<Rank, Letter>>;

  Adapter(Rank me, double threshold) : node_(me), agreement_(threshold) {}

  bool is_between_rounds() const { return !agreeing_ && node_.idle(); }
  /// A round is wanted: as soon as the one before is over.
  void want() { wanted_ = true; }
  /// Whether it would be of use: costs have changed since the last one so that the tree may become
  /// another one, and none is under way.
  bool is_of_use(const std::vector<std::pair<Rank, double>>& costs) const {
    return is_between_rounds() && agreement_.may_change_tree(costs, node_.tree_neighbours());
  }
  /// Whether one may begin: it is wanted here, or some neighbour has begun it.
  bool may_begin() const { return is_between_rounds() && (wanted_ || agreement_.has_offer()); }
  /// Begins a round with costs to all neighbours as they are measured now.
  Letters begin(std::vector<std::pair<Rank, double>> costs);
  /// Letters come in the order in which they were sent.
  Letters on(Rank from, const Letter&);

  /// The last round that is over here; nullopt before the first tree is there.
  std::optional<std::uint32_t> round() const { return round_; }
  /// Whether it is over here, and not forgotten.
  bool knows(std::uint32_t round) const {
    return round_ && round <= *round_ && trees_.begin()->first <= round;
  }
  /// What the links of this rank cost in the last round that is over here.
  const std::vector<std::pair<Rank, double>>& costs() const { return costs_; }
  /// The neighbours in the tree of a round that is known.
  const std::vector<Rank>& neighbours(std::uint32_t round) const;
  /// Nobody asks for trees of rounds before this one any more.
  void forget_before(std::uint32_t round);
  /// Trees that are kept.
  std::size_t kept() const { return trees_.size(); }

 private:
  Letters after(Sends);
  void begin_if_agreed(Letters&);

  Node node_;
  Agreement agreement_;
  bool wanted_ = false, agreeing_ = false;
  /// Of the last round that is over, and of the one that was agreed on last.
  std::vector<std::pair<Rank, double>> costs_, agreed_;
  std::optional<std::uint32_t> round_;
  /// By the round since which the tree is as it is.
  std::map<std::uint32_t, std::vector<Rank>> trees_;
};

}  // namespace piracema::coll::mst
