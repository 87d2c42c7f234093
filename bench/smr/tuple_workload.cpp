#include "base/random.h"
#include "base/text.h"
#include "bench/smr/workload.h"
#include "examples/smr/tuple_space.h"

namespace piracema::bench {

namespace {

constexpr std::size_t arity_max = 10;
constexpr std::size_t field_size = 50;

TupleSpace::Tuple tuple(std::size_t arity, std::size_t number) {
  TupleSpace::Tuple fields;
  for (std::size_t i = 0; i < arity; ++i) {
    // What differs comes first, as in random texts.
    std::string field = concat(number, "-", i, "-");
    field.resize(field_size, 'x');
    fields.push_back(std::move(field));
  }
  return fields;
}

TupleSpace::Conflicts conflicts_of(TupleGroups groups) {
  switch (groups) {
    case TupleGroups::by_arity:
      return TupleSpace::Conflicts::by_arity;
    case TupleGroups::by_first_field:
      return TupleSpace::Conflicts::by_first_field;
    case TupleGroups::all:
      break;
  }
  return TupleSpace::Conflicts::all;
}

}  // namespace

Workload tuple_workload(std::size_t size, double conflict_percent, std::size_t count,
                        TupleGroups groups, unsigned threads) {
  const auto conflicts = conflicts_of(groups);
  const std::size_t each = size / arity_max;
  Workload workload;
  workload.machine = [=] {
    auto machine = std::make_unique<TupleSpace>(conflicts);
    for (std::size_t number = 0; number < each; ++number) {
      for (std::size_t arity = 1; arity <= arity_max; ++arity) {
        machine->apply(TupleSpace::out(tuple(arity, number)), {});
      }
    }
    return machine;
  };
  Random random(1);
  std::size_t fresh = each;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t arity = 1 + random.below(arity_max);
    TupleSpace::Operation operation;
    if (random.chance(conflict_percent / 100)) {
      const bool puts = random.chance(0.5);
      operation.action = puts ? TupleSpace::Action::out : TupleSpace::Action::inp;
      for (auto& field : tuple(arity, puts ? fresh++ : random.below(each))) {
        operation.fields.emplace_back(std::move(field));
      }
    } else {
      for (auto& field : tuple(arity, random.below(each))) {
        // A template asks for some of the fields.
        if (operation.fields.empty() || random.chance(0.5)) {
          operation.fields.emplace_back(std::move(field));
        } else {
          operation.fields.emplace_back(std::nullopt);
        }
      }
    }
    workload.groups.push_back(TupleSpace::group(operation, conflicts, threads));
    workload.operations.push_back(TupleSpace::encode(operation));
  }
  return workload;
}

}  // namespace piracema::bench
