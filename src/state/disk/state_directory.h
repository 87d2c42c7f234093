#pragma once

#include <piracema/detail/stored_states.h>
#include <piracema/error.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/engine.h"
#include "base/fd.h"

namespace piracema::state {

/// Where a process keeps states by key that are not to be in memory: a directory of its own in
/// one that it may share with others, of this job and of other ones. It goes with this object; what
/// a process leaves that was killed goes when the next one comes.
class StateDirectory final : public StatePlace {
 public:
  /// What the states of a replica take in memory if nothing else is said.
  static constexpr std::uint64_t memory_usual = std::uint64_t{64} << 20;
  /// Less is not enough for a write buffer.
  static constexpr std::uint64_t memory_min = std::uint64_t{1} << 20;

  /// Makes `path` if need be. `memory` is for each operator, about; at least `memory_min`.
  /// Errc::config without RocksDB or for another path than a directory's, Errc::io.
  static Result<std::unique_ptr<StateDirectory>> open(const std::string& path,
                                                      std::uint64_t memory = memory_usual);
  ~StateDirectory() override;

  /// Removes all that lies there, whoever still uses it: the process is about to end, and may be
  /// ended before this object is.
  void clear();

  std::unique_ptr<StoredStates> make(StateTypes& types) override;

 private:
  StateDirectory(std::string own, Fd lock, std::uint64_t memory);

  const std::string own_;
  const Fd lock_;
  const std::uint64_t memory_;
  std::atomic<std::uint64_t> made_{0};
};

/// As a process is told: null if `path` is empty, for states in memory; `memory` 0: the usual.
Result<std::unique_ptr<StateDirectory>> open_state_place(const std::string& path,
                                                         std::uint64_t memory);

}  // namespace piracema::state
