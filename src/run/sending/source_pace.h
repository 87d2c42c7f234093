#pragma once

#include <algorithm>
#include <cstdint>

namespace piracema::runtime {

/// How a source is called: for how many items at a time, and whether what a call made is to leave
/// before more has come.
///
/// A call should last about a tenth of a millisecond: short enough to look at what else there is to
/// do, long enough for that to cost nothing. Items that take longer to make than a message costs
/// are asked for one by one, as each may have a message for itself. That is told from some calls
/// and not from one: a source that was late has its next item at once, and none for long after
/// that.
class SourcePace {
 public:
  static constexpr std::uint64_t call_ns = 100'000;
  static constexpr std::uint64_t message_ns = 10'000;

  /// To whom what was made leaves: nobody yet, those who have nothing to do, or all who have asked.
  enum class Haste : std::uint8_t { none, some, great };

  /// Items that the next call may make.
  std::int64_t items() const { return ns_per_item_ >= message_ns ? 1 : items_; }

  /// A call made so many in `ns`.
  void made(std::int64_t items, std::uint64_t ns) {
    if (ns < call_ns / 2) items_ = std::min<std::int64_t>(items_ * 2, 1 << 20);
    if (ns > call_ns) items_ = std::max<std::int64_t>(items_ / 2, 1);
    const std::uint64_t each = ns / static_cast<std::uint64_t>(std::max<std::int64_t>(items, 1));
    ns_per_item_ = (3 * ns_per_item_ + each) / 4;
    haste_ = ns < call_ns / 4 ? Haste::none : Haste::some;
    if (ns_per_item_ >= message_ns) haste_ = Haste::great;
  }
  /// It had nothing more to give.
  void found_nothing() { haste_ = Haste::great; }

  Haste haste() const { return haste_; }

 private:
  std::int64_t items_ = 1;
  std::uint64_t ns_per_item_ = 0;
  Haste haste_ = Haste::none;
};

}  // namespace piracema::runtime
