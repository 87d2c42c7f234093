#pragma once

#include <doctest/doctest.h>
#include <piracema/codec.h>
#include <piracema/operator.h>
#include <piracema/poll.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/testing.h"

/// What the tests of live sources share.
namespace piracema::testing {

/// Runs a source as a replica does: asks it, and rests until it is woken where it has nothing yet.
template <class Source>
class Running {
 public:
  explicit Running(const Source& prototype, const Buffer& state = {}, Context context = {})
      : source_(std::make_unique<Source>(prototype)) {
    if (!state.empty()) {
      detail::BufferReader reader(state);
      std::istream stream(&reader);
      cereal::BinaryInputArchive archive(stream);
      archive(*source_);
    }
    context.begins_job = context.begins_job && state.empty();
    context.wake = [this] {
      std::lock_guard lock(mutex_);
      woken_ = true;
      changed_.notify_all();
    };
    source_->start(context);
  }

  /// The next item; none at the end. Does not ask again before it is woken.
  std::optional<std::string> next() {
    for (;;) {
      Poll<std::string> polled = (*source_)();
      if (polled.has_item()) return *std::move(polled);
      if (polled.is_end()) return std::nullopt;
      std::unique_lock lock(mutex_);
      // A failure of the test, never the expected way.
      REQUIRE(changed_.wait_for(lock, std::chrono::seconds(100), [this] { return woken_; }));
      woken_ = false;
    }
  }
  std::vector<std::string> next(std::size_t count) {
    std::vector<std::string> items;
    while (items.size() < count) {
      auto item = next();
      if (!item) break;
      items.push_back(*std::move(item));
    }
    return items;
  }
  bool has_nothing_yet() {
    const Poll<std::string> polled = (*source_)();
    return !polled.has_item() && !polled.is_end();
  }
  bool has_ended() { return !next(); }

  Buffer state() {
    Buffer state;
    detail::BufferWriter writer(state);
    std::ostream stream(&writer);
    cereal::BinaryOutputArchive archive(stream);
    archive(*source_);
    return state;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  std::unique_ptr<Source> source_;
};

inline Context first_time() { return {.node = "in", .begins_job = true}; }

using Texts = std::vector<std::string>;

}  // namespace piracema::testing
