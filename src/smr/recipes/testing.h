#pragma once

#include <doctest/doctest.h>
#include <piracema/smr/invoker.h>
#include <piracema/smr/lease.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "smr/kv/machine.h"
#include "smr/recipes/ask.h"

/// What the tests of the recipes share.
namespace piracema::smr::kv::testing {

/// A group of one map that answers at once, with a clock that the test moves.
class FakeGroup final : public Invoker {
 public:
  void invoke_ordered(Bytes operation, Callback done) override {
    Result<Buffer> answer = Error{Errc::timeout, "the group is away"};
    {
      const std::lock_guard lock(mutex_);
      if (!away_) answer = apply(operation);
      ordered_ += 1;
      news_.notify_all();
      if (lost_answers_ > 0) {
        lost_answers_ -= 1;
        answer = Error{Errc::timeout, "the answer was lost"};
      }
    }
    done(std::move(answer));
  }
  void invoke_unordered(Bytes operation, Callback done) override {
    Result<Buffer> answer = Error{Errc::timeout, "the group is away"};
    {
      const std::lock_guard lock(mutex_);
      if (!away_) answer = machine_.query(operation);
    }
    done(std::move(answer));
  }

  /// By the clock of the group; leases that end by then are gone.
  void advance(std::chrono::milliseconds by) {
    const std::lock_guard lock(mutex_);
    context_.instance += 1;
    context_.time += static_cast<std::uint64_t>(std::chrono::nanoseconds(by).count());
    machine_.on_time(context_);
  }
  void set_away(bool away) {
    const std::lock_guard lock(mutex_);
    away_ = away;
  }
  /// Until somebody has asked for so many more ordered operations. False after a minute.
  bool wait_for_ordered(std::uint64_t more) {
    std::unique_lock lock(mutex_);
    const std::uint64_t wanted = ordered_ + more;
    return news_.wait_for(lock, std::chrono::minutes(1), [&] { return ordered_ >= wanted; });
  }
  /// The next so many ordered operations are executed, and nobody hears of it.
  void lose_answers(int count) {
    const std::lock_guard lock(mutex_);
    lost_answers_ = count;
  }

  template <class Operation>
  Reply ask(const Operation& operation) {
    const auto reply = change(*this, operation);
    REQUIRE(reply.ok());
    return *reply;
  }
  std::string get(const std::string& key) {
    const Reply reply = ask(Get{key});
    return reply.status == Status::ok ? reply.entries.at(0).value : "(none)";
  }

 private:
  Buffer apply(Bytes operation) {
    context_.instance += 1;
    return machine_.apply(operation, context_);
  }

  std::mutex mutex_;
  Machine machine_;
  Context context_;
  bool away_ = false;
  int lost_answers_ = 0;
  std::uint64_t ordered_ = 0;
  std::condition_variable news_;
};

/// The way of one process to a group, until it is cut: as if the process were frozen, or dead.
class Line final : public Invoker {
 public:
  explicit Line(Invoker& group) : group_(group) {}
  void invoke_ordered(Bytes operation, Callback done) override {
    if (is_cut_) return done(Error{Errc::timeout, "cut"});
    group_.invoke_ordered(operation, std::move(done));
  }
  void invoke_unordered(Bytes operation, Callback done) override {
    if (is_cut_) return done(Error{Errc::timeout, "cut"});
    group_.invoke_unordered(operation, std::move(done));
  }
  void cut() { is_cut_ = true; }
  void mend() { is_cut_ = false; }

 private:
  Invoker& group_;
  std::atomic<bool> is_cut_ = false;
};

/// Counts, and lets others wait for it.
class Calls {
 public:
  void call() {
    const std::lock_guard lock(mutex_);
    count_ += 1;
    news_.notify_all();
  }
  int count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }
  /// False after a minute.
  bool wait_for(int count) {
    std::unique_lock lock(mutex_);
    return news_.wait_for(lock, std::chrono::minutes(1), [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable news_;
  int count_ = 0;
};

constexpr std::chrono::milliseconds short_ttl{200};
/// Nothing that depends on time happens to it during a test.
constexpr std::chrono::minutes long_ttl{60};
inline const LeaseOptions for_long{.ttl = long_ttl};
constexpr std::chrono::milliseconds at_once{0};

}  // namespace piracema::smr::kv::testing
