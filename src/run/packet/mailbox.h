#pragma once

#include <atomic>
#include <optional>
#include <utility>

#include "run/threads/parker.h"

namespace piracema::runtime {

/// A queue of many senders and one receiver without locks (after Vyukov's intrusive MPSC queue).
/// Bounded by those who send: every packet in it was paid for with a credit.
template <class T>
class Mailbox {
 public:
  /// Wakes `receiver`, which outlives it, for every value.
  explicit Mailbox(Parker& receiver) : head_(new Node), tail_(head_.load()), receiver_(receiver) {}
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
    receiver_.wake();
  }

  /// The receiver: the oldest value, if one is there.
  std::optional<T> take() {
    Node* next = tail_->next.load(std::memory_order_acquire);
    if (next == nullptr) return std::nullopt;
    std::optional<T> value = std::move(next->value);
    next->value.reset();
    delete std::exchange(tail_, next);
    return value;
  }

 private:
  struct Node {
    std::optional<T> value;
    std::atomic<Node*> next{nullptr};
  };

  alignas(64) std::atomic<Node*> head_;
  alignas(64) Node* tail_;
  Parker& receiver_;
};

}  // namespace piracema::runtime
