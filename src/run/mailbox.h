#pragma once

#include <atomic>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace piracema::runtime {

/// Lets one thread sleep until another one has something for it.
class Parker {
 public:
  /// Any thread. Cheap when nobody sleeps.
  void wake();
  /// The one thread: returns at once if it was woken since the last call, else sleeps until it
  /// is, or until `longest` has passed.
  void sleep(std::optional<Time> longest = std::nullopt);

 private:
  enum : int { idle, woken, asleep };
  std::atomic<int> state_{idle};
};

/// A queue of many senders and one receiver without locks (after Vyukov's intrusive MPSC queue).
/// Bounded by those who send: every packet in it was paid for with a credit.
template <class T>
class Mailbox {
 public:
  Mailbox() : head_(new Node), tail_(head_.load()) {}
  ~Mailbox() {
    while (take()) {
    }
    delete tail_;
  }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Any thread.
  void put(T value) {
    Node* node = new Node{std::move(value)};
    Node* before = head_.exchange(node, std::memory_order_acq_rel);
    before->next.store(node, std::memory_order_release);
    parker_.wake();
  }

  /// Any thread: ends the receiver's sleep without a value.
  void nudge() { parker_.wake(); }

  /// The receiver: the oldest value, if one is there.
  std::optional<T> take() {
    Node* next = tail_->next.load(std::memory_order_acquire);
    if (next == nullptr) return std::nullopt;
    std::optional<T> value = std::move(next->value);
    next->value.reset();
    delete std::exchange(tail_, next);
    return value;
  }

  /// The receiver: sleeps until something may be there.
  void wait(std::optional<Time> longest = std::nullopt) { parker_.sleep(longest); }

 private:
  struct Node {
    std::optional<T> value;
    std::atomic<Node*> next{nullptr};
  };

  alignas(64) std::atomic<Node*> head_;
  alignas(64) Node* tail_;
  Parker parker_;
};

}  // namespace piracema::runtime
