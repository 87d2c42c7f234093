#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"

namespace piracema::store {

/// Who has an object of a bucket for itself: a lease that its holder writes anew all the time, each
/// time only if it finds what it has left. Others take it once it has not changed for `term`, by
/// their own clock, or when it was given back. Pure: whoever drives it does what `step` says and
/// tells what came of it; docs/design/021-snapshots-in-a-bucket.md.
///
/// Nobody holds it beside another one for longer than a write takes: what is written by a holder
/// that was taken for dead is refused, and `Lost` says so. `is_valid` is stricter: nobody else can
/// hold it.
///
/// Several processes of one job may want it, one after the other or, while the first has not
/// noticed, beside each other. To each the others are no strangers: it takes the lease at once, and
/// does not lose it to them.
class Lease {
 public:
  struct Owner {
    /// Of a job, like no other's; and of this one of its processes, like no other's that ever was.
    std::string job, writer;
    /// Tells people who that is, in one line.
    std::string holder;
    /// What the job does goes on for so long when nobody is left who could hold the lease: others
    /// wait so much longer for it.
    std::chrono::milliseconds keeps{0};
  };
  struct Settings {
    Time term = std::chrono::seconds(10), renew = std::chrono::seconds(2);
  };

  // ---- what happens
  struct Content {
    /// Another one whenever it is written.
    std::string tag;
    std::string text;
  };
  /// It is time, or the beginning.
  struct Tick {};
  struct WasRead {
    /// Nothing: there is no object.
    std::optional<Content> content;
  };
  struct WasWritten {
    std::string tag;
  };
  /// The condition does not hold.
  struct NotWritten {};
  /// Nobody knows whether it was done.
  struct Unclear {};
  using Event = std::variant<Tick, WasRead, WasWritten, NotWritten, Unclear>;

  // ---- what to do
  struct Read {};
  struct Write {
    std::string text;
    /// What has to be there; empty: nothing may be there.
    std::string if_match;
  };
  /// Nothing until then: a Tick. Of one that another job has: it is taken at `taken_at` if nothing
  /// is heard of that job.
  struct Wait {
    Time until{}, taken_at{};
  };
  /// Somebody has it: it is over.
  struct Refused {
    std::string holder;
  };
  /// It was held, and another one has it now: it is over.
  struct Lost {
    std::string holder;
  };
  using Action = std::variant<Read, Write, Wait, Refused, Lost>;

  /// No text of a lease has more.
  static constexpr std::uint64_t text_bytes_max = 1'024;

  Lease(Owner owner, Settings settings);

  Action step(Time now, const Event& event);
  /// Of what an object says: which job's lease it is, if it is one that somebody holds; else empty.
  static std::string job_of_holder(std::string_view text);

  bool holds() const { return state_ == State::holds; }
  /// Holds it, and nobody else can.
  bool is_valid(Time now) const { return holds() && now < sent_at_ + settings_.term; }
  /// Another process of the job has held it before this one.
  bool was_ours() const { return others_until_ != Time{}; }
  /// Of one that is held, by a job that is over: what gives it back. Whether it is done does not
  /// matter. Where another process of the job may believe that it holds it others still wait for
  /// `term`.
  Write give_back(Time now) const;

 private:
  enum class State { wants, watches, holds, over };

  Action write(Time now);
  Action next(Time now) const;
  Action found(Time now, const std::optional<Content>& content);
  Action watch(Time now, const Content& content);
  Action end(std::string holder);
  std::string text(std::string_view state, std::chrono::milliseconds keeps) const;
  std::string text() const { return text("held", owner_.keeps); }
  /// Another process of ours has written it.
  void note_other(Time now) { others_until_ = now + settings_.term; }

  const Owner owner_;
  const Settings settings_;
  State state_ = State::wants;
  /// Of what we have last seen there; empty: nothing.
  std::string tag_;
  /// Since when another one's has not changed.
  Time seen_at_{};
  /// No other process of ours holds it from then on.
  Time others_until_{};
  /// When our last write that was done was first sent, and the one under way.
  Time sent_at_{}, sends_at_{};
  /// Of our writes: each has a text of its own.
  std::uint64_t count_ = 0;
  bool writing_ = false;
};

}  // namespace piracema::store
