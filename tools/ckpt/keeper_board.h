#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "ckpt/keeper/keeper_figures.h"

namespace piracema::tools {

/// Where the images of a job lie, as it was seen there.
struct StoreSight {
  struct Image {
    std::uint64_t image = 0, bytes = 0;
    /// Seconds since 1970.
    std::uint64_t created = 0;
  };
  Time at{};
  /// Of the file system: what we may still write, and all.
  std::uint64_t free = 0, size = 0;
  /// Those that are complete, oldest first.
  std::vector<Image> images;
};

/// A keeper and its store as they were a moment ago. Never changed once it was published.
struct KeeperSight {
  ckpt::KeeperFigures figures;
  /// The last lines of its log.
  std::vector<LoggedLine> lines;
  /// When the keeper said it.
  Time at{};
  /// None before the first look; an old one if the store does not answer.
  std::optional<StoreSight> store;

  /// Why the job does not run, for people; empty if it does.
  std::string trouble() const;
};

/// Where what a keeper says and what its store is like come together, and those that look find it.
/// Safe from any thread.
class KeeperBoard {
 public:
  void show(ckpt::KeeperFigures figures, std::vector<LoggedLine> lines, Time now);
  void show(StoreSight store);
  /// Null: nothing is known of the keeper yet.
  std::shared_ptr<const KeeperSight> latest() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const KeeperSight> latest_;
  std::optional<StoreSight> store_;
};

/// One word: "running".
const char* name_of(ckpt::Keeper::State state);
const char* name_of(ckpt::KeeperFigures::Outcome outcome);

}  // namespace piracema::tools
