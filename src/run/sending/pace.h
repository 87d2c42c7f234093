#pragma once

#include <algorithm>
#include <cstdint>

namespace piracema::runtime {

/// How many items a sender puts into one batch: as many as keep a receiver busy for about four
/// milliseconds. Long items travel alone, so that the work stays divisible; short ones share
/// the cost of a message, which is mostly the threads that it wakes: 0.1 ms in all on a virtual
/// machine. Begins with one item and at most doubles each time it hears of a receiver, so that a
/// guess is never far off. A batch that somebody could begin with does not wait to be full.
class BatchPace {
 public:
  static constexpr std::uint64_t target_ns = 4'000'000;
  static constexpr std::uint32_t items_max = 1 << 20;

  /// All senders of this process put so many into every batch from here on (paper 004, section 3:
  /// batchSize); 0: as above. Before any replica is made.
  static void fix(std::uint32_t items) { fixed_ = items; }

  /// `items`: so many in every batch of this edge, whatever `fix` says.
  explicit BatchPace(std::uint32_t items = 0)
      : own_(items == 0 ? fixed_ : items), items_(std::max<std::uint32_t>(own_, 1)) {}

  void heard(std::uint64_t ns_per_item) {
    ns_per_item_ = ns_per_item_ == 0 ? ns_per_item : (3 * ns_per_item_ + ns_per_item) / 4;
    const std::uint64_t wanted = target_ns / std::max<std::uint64_t>(ns_per_item_, 1);
    const std::uint64_t next =
        std::min({wanted, std::uint64_t{items_} * 2, std::uint64_t{items_max}});
    items_ = own_ != 0 ? own_ : static_cast<std::uint32_t>(std::max<std::uint64_t>(next, 1));
  }
  std::uint32_t items() const { return items_; }
  std::uint64_t ns_per_item() const { return ns_per_item_; }

 private:
  std::uint64_t ns_per_item_ = 0;
  /// 0: as fits the load.
  std::uint32_t own_;
  std::uint32_t items_;
  inline static std::uint32_t fixed_ = 0;
};

/// How many batches a receiver lets each sender have on the way: at least two, so that the next
/// one is there when one is done; more while batches are done faster than a message travels. Never
/// more than the user allows, which may be one (paper 004, section 3: messageOTF).
class CreditPace {
 public:
  static constexpr std::uint32_t batches_min = 2;
  static constexpr std::uint32_t batches_max = 16;
  static constexpr std::uint64_t target_ns = 1'000'000;

  explicit CreditPace(std::uint32_t most = batches_max)
      : least_(std::min(batches_min, most)), most_(most) {}

  /// How many a sender has at first.
  std::uint32_t first() const { return least_; }

  /// A batch was done in `ns`: how many credits its sender gets back for it, none included.
  std::uint32_t done(std::uint64_t ns, std::uint32_t& granted) {
    ns_per_batch_ = ns_per_batch_ == 0 ? ns : (7 * ns_per_batch_ + ns) / 8;
    const std::uint64_t wanted = std::clamp<std::uint64_t>(
        target_ns / std::max<std::uint64_t>(ns_per_batch_, 1), least_, std::max(least_, most_));
    granted -= 1;
    if (granted >= wanted) return 0;
    // One back for the one that is done, and one more while the window is too small.
    const std::uint32_t credits = granted + 1 < wanted ? 2 : 1;
    granted += credits;
    return credits;
  }

 private:
  std::uint32_t least_, most_;
  std::uint64_t ns_per_batch_ = 0;
};

}  // namespace piracema::runtime
