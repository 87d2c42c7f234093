#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/message/courier.h"

namespace piracema::coll {

/// Plans on their way around slow links. Rank 0 sends each plan straight to all, which costs next
/// to nothing; but a link may take seconds, or come to do so while the plan is on it, and a rank
/// without a plan keeps all those waiting that broadcasts reach over it. So a rank whose link to
/// rank 0 has a way around it gets every plan by that way, too: also those that it has not got when
/// the way is found. And who waits for a plan asks for it, since a link may have been slow for a
/// moment without anybody knowing. Pure; the driver has the network and the clock.
class PlanMail {
 public:
  explicit PlanMail(Rank size) : has_(size, 0), posted_(size, 0), wanted_(size, 0) {}

  /// At rank 0, which has made the plan of this window, the one after the last.
  void add(std::uint32_t window, std::span<const char> plan);
  /// At rank 0: this rank has the plans of all windows up to there.
  void on_has(Rank, std::uint32_t window);

  /// How long letters to a rank take around its link, there and back; nullopt where the link itself
  /// is best.
  using Around = std::function<std::optional<Time>(Rank)>;
  /// What goes out now.
  std::vector<Courier::Packet> due(Time now, const Around&);
  /// When `due` has something to say that it does not know of yet.
  Time next() const { return courier_.next(); }
  /// Bytes that may come from anybody, in the name of a rank.
  void on_packet(Rank from, std::span<const char> bytes);

  /// The plan of a window, if it has come by mail. Windows before it are forgotten, and so is this
  /// one: each is asked for until it is there, and then no more.
  std::optional<std::string> take(std::uint32_t window);
  /// Has waited for the plan of a window for so long that it may be lost. True the first time.
  bool ask(std::uint32_t window);
  /// The plan of this window has come another way.
  void forget_up_to(std::uint32_t window);

  std::uint64_t letters() const { return courier_.letters() + courier_.again(); }

 private:
  struct Kept {
    std::uint32_t window = 0;
    std::string letter;
  };
  /// Rank 0 gets ahead of nobody by so many windows: they have sixteen operations, but the first.
  static constexpr std::size_t kept_max = 256;

  Courier courier_;
  /// At rank 0: plans that somebody may not have; up to where each rank has them, they were posted
  /// to it, and it has asked for them.
  std::deque<Kept> kept_;
  std::vector<std::uint32_t> has_, posted_, wanted_;
  /// At the others: what has come, up to where it is not wanted any more, and was asked for.
  std::map<std::uint32_t, std::string> came_;
  std::uint32_t taken_ = 0, asked_ = 0;
};

}  // namespace piracema::coll
