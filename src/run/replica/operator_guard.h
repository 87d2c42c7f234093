#pragma once

#include <piracema/error.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <string>

#include "run/packet/port.h"
#include "run/replica/counters.h"

namespace piracema::runtime {

/// Calls the code of a user, and knows which item that is at work on. Nothing that it throws leaves
/// the replica: the first time, the replica has failed, and its port is told why and by which item.
/// Interrupted passes through.
class OperatorGuard {
 public:
  /// Where `at_work` is null, nobody else sees which item it is.
  OperatorGuard(Port& port, Counters& counters, std::atomic<std::uint64_t>* at_work);
  OperatorGuard(const OperatorGuard&) = delete;
  OperatorGuard& operator=(const OperatorGuard&) = delete;

  /// False if it has thrown; `what` says what was called.
  template <class Call>
  bool call(const char* what, Call call);
  /// The replica has failed, by the item that is at work if there is one.
  void fail(std::string why);
  bool has_failed() const { return failed_; }

  /// No item is at work any more.
  void no_item() { at_work_.store(none, std::memory_order_relaxed); }
  std::atomic<std::uint64_t>* at_work() { return &at_work_; }

 private:
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  Port& port_;
  Counters& counters_;
  std::atomic<std::uint64_t> own_at_work_{none};
  std::atomic<std::uint64_t>& at_work_;
  bool failed_ = false;
};

template <class Call>
bool OperatorGuard::call(const char* what, Call call) {
  struct AtWork {
    explicit AtWork(Counters& of) : counters(of) { counters.in_or_out(); }
    ~AtWork() { counters.in_or_out(); }
    Counters& counters;
  } const at_work(counters_);
  try {
    call();
    return true;
  } catch (const StateError& error) {
    // Without an item: another one would fare no better.
    failed_ = true;
    port_.failed(std::nullopt, std::string(what) + ": " + error.what());
  } catch (const std::exception& error) {
    fail(std::string(what) + ": " + error.what());
  } catch (const Interrupted&) {
    throw;
  } catch (...) {
    fail(std::string(what) + ": it threw something that is no std::exception");
  }
  return false;
}

}  // namespace piracema::runtime
