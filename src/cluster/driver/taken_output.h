#pragma once

#include <cstdint>
#include <string_view>

namespace piracema::cluster {

/// What the processes of an agent have printed, which comes with its messages. It is counted, as
/// the agent keeps what was not taken.
class TakenOutput {
 public:
  /// Writes it to `to` as if they had done so themselves: what cannot be written is gone.
  void take(std::string_view text, int to);
  /// Since the agent has come.
  std::uint64_t bytes() const { return bytes_; }
  /// Another one has.
  void begin_anew() { bytes_ = 0; }

 private:
  std::uint64_t bytes_ = 0;
};

}  // namespace piracema::cluster
