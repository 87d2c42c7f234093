#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/fd.h"

namespace piracema::ckpt {

/// The device that a store is on, or the server: how much is waiting to be written to it. What
/// waits for other devices of this host is not in a dump's way.
///
/// The kernel tells it in debugfs, which root can look into whether or not it is mounted. Where it
/// does not (no root, a file system of several devices), all that waits on this host counts.
/// Never waits for the store, once it is made.
class StoreDevice {
 public:
  /// `path` is on it.
  explicit StoreDevice(const std::string& path);
  /// With its table, or a file that is as if it were that.
  explicit StoreDevice(Fd table) : table_(std::move(table)) {}

  /// In the page cache, dirty or being written.
  double dirty_bytes() const;

 private:
  /// The kernel's table of the device; none if there is none.
  Fd table_;
};

/// In bytes, what `first` and `second`, each the begin of a line with a number of kB, add up to;
/// nullopt if one is not there. Pure.
std::optional<double> sum_of_lines(std::string_view table, std::string_view first,
                                   std::string_view second);

}  // namespace piracema::ckpt
