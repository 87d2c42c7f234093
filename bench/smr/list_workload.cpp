#include <numeric>
#include <utility>

#include "base/random.h"
#include "bench/smr/workload.h"
#include "examples/smr/linked_list.h"

namespace piracema::bench {

Workload list_workload(std::int32_t size, double conflict_percent, std::size_t count) {
  Workload workload;
  workload.machine = [size] { return std::make_unique<LinkedList>(size); };
  Random random(1);
  const auto below = [&random](std::int32_t bound) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(bound)));
  };
  // What the list will hold. What is removed is there, as else a short list grows with each `add`.
  std::vector<std::int32_t> held(static_cast<std::size_t>(size));
  std::iota(held.begin(), held.end(), 0);
  std::int32_t fresh = size;
  for (std::size_t i = 0; i < count; ++i) {
    LinkedList::Operation operation;
    if (random.chance(conflict_percent / 100)) {
      const bool adds = held.empty() || random.chance(0.5);
      operation.action = adds ? LinkedList::Action::add : LinkedList::Action::remove;
      if (adds) {
        held.push_back(fresh++);
        operation.number = held.back();
      } else {
        std::swap(held[random.below(held.size())], held.back());
        operation.number = held.back();
        held.pop_back();
      }
    } else {
      const bool gets = random.chance(0.5);
      operation.action = gets ? LinkedList::Action::get : LinkedList::Action::contains;
      operation.number = below(size);
    }
    workload.groups.push_back(LinkedList::group(operation));
    workload.operations.push_back(LinkedList::encode(operation));
  }
  return workload;
}

}  // namespace piracema::bench
