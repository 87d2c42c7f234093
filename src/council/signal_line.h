#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/fd.h"
#include "council/group_state.h"
#include "loop/poller.h"

namespace piracema::council {

/// A signal as the command hands it on: "signal 15 2", with the end of the line.
std::string signal_line(const Signalled& signalled);
/// Nothing for any other line.
std::optional<Signalled> signal_of(std::string_view line);

/// Where the command hands on the signals that it was given: read by a thread of its own, also
/// while the coordinator leads, until the command is gone. Several processes may have one such
/// line, and one of them gets what is said there.
class SignalLine {
 public:
  /// `take` is called on that thread.
  SignalLine(Fd orders, std::function<void(const Signalled&)> take);
  ~SignalLine();

 private:
  void read();

  const Fd orders_;
  const std::function<void(const Signalled&)> take_;
  net::Poller poller_;
  std::string heard_;
  std::thread thread_;
};

}  // namespace piracema::council
