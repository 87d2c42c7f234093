#pragma once

#include <piracema/operator.h>

#include <cstddef>
#include <vector>

#include "flow/plan.h"

namespace piracema::runtime {

/// How far event time has come by what the inputs of a replica say: the least of them, as an item
/// of any may be the next one. Channels are FIFO, so what has come by an input is not behind what
/// that has said before; see docs/design/030-event-time.md.
///
/// An input that has ended leaves the minimum. Back edges say nothing: a replica of a cycle does
/// not know what still goes round.
class Watermarks {
 public:
  explicit Watermarks(const flow::ReplicaPlan& plan);

  /// What comes by `input` from here on is not earlier. One that goes back changes nothing.
  void on_watermark(std::size_t input, EventTime come);
  void on_end(std::size_t input);

  /// `no_event_time` until every input that is open has said something. Never goes back.
  EventTime come() const { return come_; }

 private:
  struct Input {
    EventTime come = no_event_time;
    bool counts = true;
  };
  void look();

  std::vector<Input> inputs_;
  EventTime come_ = no_event_time;
};

}  // namespace piracema::runtime
