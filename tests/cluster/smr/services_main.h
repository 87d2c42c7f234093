#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "examples/smr/linked_list.h"
#include "examples/smr/tuple_space.h"

/// What the replicas of the services of paper 003 and those who test them agree on.
namespace piracema::testing {

constexpr std::uint32_t execution_threads = 4;
/// Few: a replica that comes back after a while fetches a checkpoint.
constexpr std::uint32_t checkpoint_every = 50;

/// So long that a walk through it is worth a thread.
constexpr std::int32_t list_size = 10'000;

inline std::unique_ptr<LinkedList> make_list() { return std::make_unique<LinkedList>(list_size); }

/// A list for each number of fields, and a thread for each (paper 003's TS2).
constexpr auto tuple_conflicts = TupleSpace::Conflicts::by_arity;
constexpr std::size_t arity_min = 2, arity_max = 5;
/// Of each arity; the oldest, so that whoever looks for anything else walks past them.
constexpr std::size_t stones = 2'000;

/// A tuple with so many fields.
inline TupleSpace::Tuple make_tuple(const char* name, std::uint64_t number, std::size_t arity) {
  TupleSpace::Tuple tuple(arity, "field");
  tuple[0] = name;
  tuple[1] = std::to_string(number);
  return tuple;
}

inline std::unique_ptr<TupleSpace> make_space() {
  auto space = std::make_unique<TupleSpace>(tuple_conflicts);
  for (std::size_t arity = arity_min; arity <= arity_max; ++arity) {
    for (std::size_t i = 0; i < stones; ++i) {
      space->apply(TupleSpace::out(make_tuple("stone", i, arity)), {});
    }
  }
  return space;
}

}  // namespace piracema::testing
