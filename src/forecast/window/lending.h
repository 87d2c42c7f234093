#pragma once

#include <optional>

#include "base/clock.h"

namespace piracema::ckpt {

/// Whether a machine is lent, and until when: by a calendar, and by its user, who counts for more
/// than the calendar says (paper 002, section 3). Pure; `now` never goes back.
class Lending {
 public:
  struct Settings {
    /// Within this a user who comes back has the machine for himself: it was promised.
    Time grace = std::chrono::seconds(10);
    /// Without a user for so long a machine is taken for idle, and for left by one who was there.
    Time idle = std::chrono::minutes(10);
    /// Idle machines are lent whatever the calendar says.
    bool when_idle = false;
    /// So much of the grace, at most, what is there may stand still in before it leaves: a user who
    /// has gone by then has not come for long. 0: it leaves at once.
    Time suspend{};
  };
  explicit Lending(Settings settings) : settings_(settings) {}

  /// What the calendar says: a window is open until then, or none is.
  void window(std::optional<Time> closes) { closes_ = closes; }
  /// Somebody sits at the machine, or has come to need it; or nobody does.
  void user(Time now, bool is_there);

  bool is_lent(Time now) const;
  /// Of the window that is open now, if one is.
  std::optional<Time> closes(Time now) const;
  /// By then nothing of others may be there; none: there is no end yet.
  std::optional<Time> gone_by(Time now) const;
  /// A user has come to a machine that was lent: until then what is there may stand still, and has
  /// to leave only after that.
  std::optional<Time> suspended_until() const;
  /// Not lent, as a user was there; but what has stood still meanwhile may go on, as he has gone in
  /// time. Until it is lent again nothing else begins.
  bool keeps(Time now) const;
  bool user_is_there() const { return user_since_.has_value(); }
  /// When a machine that nobody uses counts as idle.
  std::optional<Time> idle_at() const;

 private:
  const Settings settings_;
  std::optional<Time> closes_;
  std::optional<Time> user_since_;
  /// When the user came, what was there was there by right.
  bool was_lent_ = false;
  /// The last user has gone while it might stand still.
  bool kept_ = false;
  /// Since when nobody is there; none if nobody ever was, as far as is known.
  std::optional<Time> user_left_;
  /// Since when anything is known of users at all.
  std::optional<Time> watching_since_;
};

}  // namespace piracema::ckpt
