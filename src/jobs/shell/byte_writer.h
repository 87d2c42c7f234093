#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/fd.h"

namespace piracema::jobs {

/// Writes what it is given to a descriptor, in order, on a thread of its own, so that whoever reads
/// slowly there holds up nobody else.
class ByteWriter {
 public:
  /// Called on that thread.
  struct Events {
    /// So many bytes are written; or dropped, as nobody reads them any more.
    std::function<void(std::size_t bytes)> wrote;
    /// Nobody does, from now on.
    std::function<void()> unread;
  };
  ByteWriter(Fd fd, Events events);
  /// What is not written is dropped.
  ~ByteWriter();
  ByteWriter(const ByteWriter&) = delete;
  ByteWriter& operator=(const ByteWriter&) = delete;

  void write(std::string bytes);
  /// The descriptor is closed once all is written; nothing is written after it. Once.
  void end();
  /// Waits for that.
  void wait();

 private:
  void run();
  bool wait_for_work();
  bool wait_for_room();
  void write_first();

  Fd fd_;
  const Events events_;
  Fd news_;
  std::mutex mutex_;
  std::deque<std::string> waiting_;
  bool ends_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace piracema::jobs
