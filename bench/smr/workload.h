#pragma once

#include <piracema/smr/state_machine.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace piracema::bench {

/// Operations drawn beforehand, so that every way of executing them does the same (paper 003,
/// section 4).
struct Workload {
  /// A machine that has not executed anything yet; equal each time.
  std::function<std::unique_ptr<smr::StateMachine>()> machine;
  std::vector<Buffer> operations;
  /// What a client of invoke_parallel would name; one for each operation.
  std::vector<std::uint32_t> groups;
};

/// Paper 003, section 4.1: a list of `size` numbers; so many of 100 operations add or remove, the
/// others look. It stays about as long as it is.
Workload list_workload(std::int32_t size, double conflict_percent, std::size_t count);

/// Section 4.2: tuples of 1 to 10 fields of 50 characters, `size` in all; so many of 100 operations
/// put or take, the others read. All that changes conflicts with all (TS1), or there is a group for
/// each number of fields (TS2), or for each of these and each first field; dealt out to `threads`.
enum class TupleGroups { all, by_arity, by_first_field };
Workload tuple_workload(std::size_t size, double conflict_percent, std::size_t count,
                        TupleGroups groups, unsigned threads);

}  // namespace piracema::bench
