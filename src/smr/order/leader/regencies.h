#pragma once

#include <optional>
#include <vector>

#include "smr/order/messages/messages.h"

namespace piracema::smr {

/// Which regency to ask for, and which to enter: counts who wants to leave which (paper 003,
/// section 2.1.1: a change takes f + 1 who want it, so that a liar alone cannot force one). Of each
/// member the highest regency counts, so whoever missed some changes catches up in one. Pure.
class Regencies {
 public:
  Regencies(std::size_t members, Regency entered)
      : wanted_by_(members), entered_(entered), wanted_(entered) {}

  Regency entered() const { return entered_; }
  /// Above entered() while a change is asked for.
  Regency wanted() const { return wanted_; }

  /// This replica wants `regency`; false if it wants that already.
  bool want(Regency regency);
  /// A member wants it, this replica itself included. False if that is no news.
  bool heard(std::size_t member, Regency regency);
  /// The regency that so many members want at least, if it is above wanted(): join them.
  std::optional<Regency> to_join(std::size_t one_correct) const;
  /// The regency that a quorum wants at least, if it is above entered(): enter it.
  std::optional<Regency> to_enter(std::size_t quorum) const;
  void enter(Regency regency);

 private:
  Regency wanted_by_at_least(std::size_t members) const;

  std::vector<Regency> wanted_by_;
  Regency entered_, wanted_;
};

}  // namespace piracema::smr
