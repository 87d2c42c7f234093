#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

namespace piracema::runtime {

/// Who may run, where so many may at a time: permits, those that wait for their turn, and those who
/// have given up a permit in the middle of one and want it back. No thread or lock inside.
template <class Task>
class RunQueue {
 public:
  explicit RunQueue(std::size_t permits) : free_(permits) {}

  /// It wants a turn, after all that do already.
  void put(Task task) { queue_.push_back(std::move(task)); }

  /// Who is to have the next turn, and a permit with it. Those who come back go first: what they
  /// hold up is older.
  std::optional<Task> take() {
    if (!can_take()) return std::nullopt;
    free_ -= 1;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    return task;
  }
  bool can_take() const { return free_ != 0 && returning_ == 0 && !queue_.empty(); }

  /// A turn is over, or waits for something.
  void give_back() { free_ += 1; }

  /// One who gave a permit back wants to go on: says so once, then asks until the answer is yes.
  void want_back() { returning_ += 1; }
  bool come_back() {
    if (free_ == 0) return false;
    free_ -= 1;
    returning_ -= 1;
    return true;
  }
  bool can_come_back() const { return free_ != 0 && returning_ != 0; }

  /// Somebody would run if there were a permit more.
  bool others_wait() const { return free_ == 0 && (returning_ != 0 || !queue_.empty()); }

 private:
  std::size_t free_;
  std::size_t returning_ = 0;
  std::deque<Task> queue_;
};

}  // namespace piracema::runtime
