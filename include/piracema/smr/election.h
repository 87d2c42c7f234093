#pragma once

#include <piracema/smr/lock.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace piracema::smr::kv {

/// Who leads, and since when: terms of one election only grow.
struct Leader {
  std::string who;
  Index term = 0;
  bool operator==(const Leader&) const = default;
};

/// Elects one leader among those who campaign for the name `key`: it holds the lock of that name,
/// and its term is the lock's token. As long as it renews its lease it leads; what it does outside
/// of the map has to carry the term, and be refused after a larger one.
///
/// One thread; `leads` any.
class Election {
 public:
  /// `invoker` outlives it.
  Election(Invoker& invoker, std::string key);
  /// Resigns, without waiting for the answer, and observes no longer.
  ~Election();
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;

  /// Returns the term once this one leads, after `patience` at most, or as long as it takes; `who`
  /// is what the others read, such as an address. `options.lost` is called when it leads no longer
  /// and has not resigned. Errors as of Lock::acquire.
  Result<Index> campaign(const std::string& who, const LeaseOptions& options = {},
                         std::optional<std::chrono::milliseconds> patience = {});
  /// Leads no longer, if it did; another one may at once.
  Result<Done> resign();
  /// Whether nobody else can lead yet: Lease::alive.
  bool leads() const { return lock_ && lock_->held(); }
  /// For Put::fence and the like; nullopt if it has not been elected.
  std::optional<Fence> fence() const;

  /// Who leads now; nullopt: nobody.
  Result<std::optional<Leader>> leader();
  /// Calls `told` with who leads now, and whenever that has changed, on a thread of its own and
  /// until this object is gone; in place of what it called before. Looks 20 times a second: a
  /// leader that is gone before that is told of only if it is the last.
  void observe(std::function<void(const std::optional<Leader>&)> told);

 private:
  class Observer;

  Invoker& invoker_;
  const std::string key_;
  std::unique_ptr<Lock> lock_;
  std::unique_ptr<Observer> observer_;
};

}  // namespace piracema::smr::kv
