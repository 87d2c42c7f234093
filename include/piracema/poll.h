#pragma once

#include <optional>
#include <utility>

namespace piracema {

/// What a source that may have to wait for the world returns: the next item, nothing yet, or the
/// end.
///
///     Poll<Reading> operator()() {
///       if (auto reading = queue.take()) return *std::move(reading);
///       return closed ? Poll<Reading>::end() : Poll<Reading>::nothing_yet();
///     }
///
/// A source that has nothing yet returns at once instead of waiting: snapshots, recoveries and a
/// stop go on meanwhile. It calls `Context::wake`, from any thread, when it has something.
template <class T>
class Poll {
 public:
  Poll(T item) : item_(std::move(item)) {}

  /// It is asked again when it has called `Context::wake`, and ten times a second.
  static Poll nothing_yet() { return Poll(What::nothing_yet); }
  /// It is not asked again.
  static Poll end() { return Poll(What::end); }

  bool has_item() const { return item_.has_value(); }
  bool is_end() const { return what_ == What::end; }

  /// The item; there is one.
  const T& operator*() const& { return *item_; }
  T&& operator*() && { return *std::move(item_); }

 private:
  enum class What { item, nothing_yet, end };
  explicit Poll(What what) : what_(what) {}

  std::optional<T> item_;
  What what_ = What::item;
};

}  // namespace piracema
