#pragma once

#include <optional>

#include "run/threads/parker.h"

namespace piracema::runtime {

/// Something that works in turns and rests between them.
class Actor {
 public:
  enum class Next {
    again,  ///< There is more to do.
    rest,   ///< Nothing, until it is woken or `longest` has passed.
    ended,  ///< There will be no other turn.
  };
  struct Turn {
    Next next = Next::rest;
    std::optional<Time> longest{};
  };

  virtual ~Actor() = default;

  /// Does one piece of work, which may wait, for the world or by `Threads::wait`. One thread at a
  /// time, but not always the same.
  virtual Turn turn() = 0;

  Parker& parker() { return parker_; }

 private:
  Parker parker_;
};

/// The threads of a process that give actors their turns. Used by the thread of its owner, but for
/// `wait`.
class Threads {
 public:
  virtual ~Threads() = default;

  /// `actor` gets its turns from now on, until one is its last.
  virtual void start(Actor& actor) = 0;
  /// Waits for that. It may be woken afterwards, in vain; once, before it is destroyed.
  virtual void join(Actor& actor) = 0;

  /// Within a turn of `actor`: sleeps until it is woken, at once if it was, or `longest` has
  /// passed.
  virtual void wait(Actor& actor, std::optional<Time> longest = std::nullopt) = 0;
};

}  // namespace piracema::runtime
