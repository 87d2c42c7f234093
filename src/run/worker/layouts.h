#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "run/worker/layout.h"

namespace piracema::runtime {

/// The layouts that a process has had, and the one that counts. They are few, and others may still
/// look at one that is over, so all of them stay.
class Layouts {
 public:
  /// From here on it counts. One thread at a time.
  void add(std::unique_ptr<const Layout> layout) {
    all_.push_back(std::move(layout));
    newest_.store(all_.back().get());
  }

  // ---- any thread
  /// Null before the first one.
  const Layout* newest() const { return newest_.load(); }
  /// That of this epoch; null if what is of `epoch` was by a former plan.
  const Layout* of(Epoch epoch) const {
    const Layout* const layout = newest();
    return layout == nullptr || epoch < layout->since ? nullptr : layout;
  }

 private:
  std::vector<std::unique_ptr<const Layout>> all_;
  std::atomic<const Layout*> newest_{nullptr};
};

}  // namespace piracema::runtime
