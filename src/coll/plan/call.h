#pragma once

#include <cstdint>

namespace piracema::coll {

/// The collectives between whose two ways there is a choice.
enum class Call : std::uint8_t {
  broadcast,
  reduce,
  all_reduce,
  all_gather,
  gather,
  scatter,
  barrier,
  ibroadcast,
};
constexpr unsigned call_kinds = 8;
constexpr const char* call_names[call_kinds] = {"broadcast", "reduce",  "allreduce", "allgather",
                                                "gather",    "scatter", "barrier",   "ibroadcast"};

/// Whose collective runs.
enum class Way : std::uint8_t { theirs, ours };
constexpr Way other(Way way) { return way == Way::ours ? Way::theirs : Way::ours; }

/// A trial of the other way is one call: what that may lose is the price of knowing.
constexpr unsigned trial_calls = 1;

/// Data of up to so many bytes goes along a tree as a whole; more goes in segments.
constexpr std::uint64_t small_bytes_max = 65'536;

/// Calls are chosen for by their class: what they are, and about how much data they move.
constexpr std::uint64_t class_bytes_max[] = {1'024, small_bytes_max, 1'048'576, ~std::uint64_t{0}};
/// The size by which the model judges a class.
constexpr double typical_bytes[] = {64, 16'384, 400'000, 4e6};
constexpr unsigned call_sizes = 4;
constexpr unsigned call_classes = call_kinds * call_sizes;

/// `bytes` have to be the same at every rank, or be given as 0.
constexpr unsigned class_of(Call call, std::uint64_t bytes) {
  unsigned size = 0;
  while (bytes > class_bytes_max[size]) size += 1;
  return static_cast<unsigned>(call) * call_sizes + size;
}

}  // namespace piracema::coll
