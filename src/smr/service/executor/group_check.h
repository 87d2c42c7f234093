#pragma once

#include <cstdint>

#include "smr/service/executor/executor.h"
#include "smr/service/executor/key_table.h"

namespace piracema::smr {

/// Holds the threads that a client's group stands for against what the operation really reads and
/// writes. Two conflicting operations are executed in their order if a thread has both in its
/// queue; this makes sure of it, by widening the second one to all threads where there is none.
///
/// That is where we leave paper 003, whose replicas execute a mislabelled request at different
/// times and fall apart: here a lie costs parallelism, most of it the liar's.
class GroupCheck {
 public:
  /// Begins a window: nothing is under way.
  void clear() { users_.clear(); }

  /// The threads for an operation that asked for `threads`: those, or `all`.
  std::uint64_t widen(const Keys& keys, std::uint64_t threads, std::uint64_t all);

 private:
  /// Of one key, threads as bits: of the last writer; of all readers since; of any of them.
  struct Users {
    std::uint64_t writer = 0;
    std::uint64_t every_reader = 0;
    std::uint64_t any_reader = 0;
  };

  bool fits(const Keys& keys, std::uint64_t threads);

  KeyTable<Users> users_;
};

}  // namespace piracema::smr
