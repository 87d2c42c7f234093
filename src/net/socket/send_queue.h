#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

#include "wire/frame.h"

namespace piracema::net {

/// A frame on its way out, with its header beside it.
struct Outgoing {
  explicit Outgoing(wire::Frame from) : frame(std::move(from)) {
    wire::write_header(frame, header.data());
  }
  Outgoing* next = nullptr;
  std::array<std::byte, wire::frame_header_bytes> header;
  wire::Frame frame;
};

/// Frames from many threads, and the right to write them, which one thread has at a time.
///
/// One word holds both: null while nobody writes (and nothing waits), else the newest frame of a
/// list, or a mark where all was taken. So a thread learns from the push itself whether it has
/// become the writer; a writer cannot leave while something waits; and nobody waits for anybody.
/// Frames of one thread stay in order: the list is a stack (Treiber 1986), taken whole and turned.
class SendQueue {
 public:
  SendQueue() = default;
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;
  ~SendQueue() {
    for (Outgoing* frame = taken(nullptr); frame != nullptr;) {
      delete std::exchange(frame, frame->next);
    }
  }

  /// Any thread. True: the caller has become the writer and has to call `take` until it is null.
  bool push(Outgoing* frame) { return push(frame, frame); }

  /// The same for several frames, each of which has the one before it as its `next`.
  bool push(Outgoing* last, Outgoing* first) {
    Outgoing* newest = newest_.load(std::memory_order_relaxed);
    do {
      first->next = newest;
      // Acquire, for what the last writer left behind; release, for the frames.
    } while (!newest_.compare_exchange_weak(newest, last, std::memory_order_acq_rel,
                                            std::memory_order_relaxed));
    return newest == nullptr;
  }

  /// The writer only: all frames, oldest first, which are the caller's now. Null: none is there,
  /// and the caller is no longer the writer.
  Outgoing* take() {
    Outgoing* expected = nothing_new();
    if (newest_.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel)) {
      return nullptr;
    }
    return taken(nothing_new());
  }

 private:
  Outgoing* taken(Outgoing* leave) {
    Outgoing* oldest = nullptr;
    Outgoing* frame = newest_.exchange(leave, std::memory_order_acq_rel);
    while (frame != nullptr && frame != nothing_new()) {
      oldest = std::exchange(frame, std::exchange(frame->next, oldest));
    }
    return oldest;
  }

  /// A value that no frame has for its address.
  Outgoing* nothing_new() { return reinterpret_cast<Outgoing*>(this); }

  std::atomic<Outgoing*> newest_ = nullptr;
};

}  // namespace piracema::net
