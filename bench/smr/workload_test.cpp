#include "bench/smr/workload.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "examples/smr/linked_list.h"
#include "examples/smr/tuple_space.h"
#include "smr/service/executor/group_executor.h"
#include "smr/service/executor/key_executor.h"
#include "smr/service/executor/sequential_executor.h"

using namespace piracema;
using namespace piracema::bench;
using namespace piracema::smr;

namespace {

std::string ask(LinkedList& list, LinkedList::Action action, std::int32_t number) {
  const LinkedList::Operation operation{action, number};
  return LinkedList::to_text(operation, list.apply(LinkedList::encode(operation), {}));
}

using Maker = std::function<std::unique_ptr<Executor>(StateMachine&)>;

// All replies, and the image at the end.
std::vector<std::string> outcome(const Workload& workload, const Maker& make) {
  const auto machine = workload.machine();
  const auto executor = make(*machine);
  std::vector<Task> tasks(workload.operations.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].operation = workload.operations[i];
    tasks[i].group = workload.groups[i];
    tasks[i].grouped = true;
  }
  executor->run(tasks, [](std::span<Task* const>) {});
  std::vector<std::string> all;
  for (const Task& task : tasks) all.emplace_back(as_text(task.reply));
  all.emplace_back(as_text(bytes_of(machine->snapshot())));
  return all;
}

void check_all_executors(const Workload& workload) {
  const Prices used_anyway{.ignored = true};
  const auto expected =
      outcome(workload, [](StateMachine& m) { return std::make_unique<SequentialExecutor>(m); });
  const Maker others[] = {
      [&](StateMachine& m) { return std::make_unique<KeyExecutor>(m, 4, used_anyway); },
      [&](StateMachine& m) {
        return std::make_unique<GroupExecutor>(m, Groups(4), true, used_anyway);
      },
      [&](StateMachine& m) {
        return std::make_unique<GroupExecutor>(m, Groups(4), false, used_anyway);
      },
  };
  for (const Maker& other : others) CHECK((outcome(workload, other) == expected));
}

}  // namespace

TEST_CASE("the paper's workloads end alike, whoever executes them") {
  for (const double conflicts : {0.0, 10.0, 50.0, 100.0}) {
    CAPTURE(conflicts);
    check_all_executors(list_workload(300, conflicts, 2'000));
    for (const auto groups :
         {TupleGroups::all, TupleGroups::by_arity, TupleGroups::by_first_field}) {
      check_all_executors(tuple_workload(300, conflicts, 2'000, groups, 4));
    }
  }
}

TEST_CASE("a list stays about as long as it is, however often a workload changes it") {
  const Workload workload = list_workload(1'000, 100, 20'000);
  const auto machine = workload.machine();
  for (int i = 0; i < 5; ++i) {
    for (const Buffer& operation : workload.operations) machine->apply(operation, {});
    const std::size_t size = dynamic_cast<const LinkedList&>(*machine).size();
    CHECK(size > 700);
    CHECK(size < 1'300);
  }
}

TEST_CASE("the list adds what it has not, removes what it has, and finds what is there") {
  using Action = LinkedList::Action;
  LinkedList list(3);
  CHECK(ask(list, Action::contains, 2) == "y");
  CHECK(ask(list, Action::contains, 3) == "n");
  CHECK(ask(list, Action::add, 3) == "y");
  CHECK(ask(list, Action::add, 3) == "n");
  CHECK(ask(list, Action::get, 3) == "3");
  CHECK(ask(list, Action::remove, 0) == "y");
  CHECK(ask(list, Action::remove, 0) == "n");
  CHECK(ask(list, Action::get, 0) == "1");
  CHECK(ask(list, Action::get, 9) == "(beyond the end)");
  CHECK(ask(list, Action::get, -1) == "(beyond the end)");
}

TEST_CASE("a template takes the oldest tuple that matches it") {
  TupleSpace space(TupleSpace::Conflicts::by_arity);
  using Template = TupleSpace::Template;
  space.apply(TupleSpace::out({"a", "1"}), {});
  space.apply(TupleSpace::out({"a", "2"}), {});
  space.apply(TupleSpace::out({"a", "1", "x"}), {});
  const auto find = [&space](Buffer operation) {
    return TupleSpace::decode_reply(space.apply(operation, {}));
  };
  const Template any_a{"a", std::nullopt};
  CHECK(find(TupleSpace::rdp(any_a)) == TupleSpace::Tuple{"a", "1"});
  CHECK(find(TupleSpace::inp(any_a)) == TupleSpace::Tuple{"a", "1"});
  CHECK(find(TupleSpace::inp(any_a)) == TupleSpace::Tuple{"a", "2"});
  CHECK(find(TupleSpace::inp(any_a)) == std::nullopt);
  CHECK(find(TupleSpace::rdp({std::nullopt, std::nullopt, "x"})).has_value());
  CHECK(find(TupleSpace::rdp({std::nullopt, std::nullopt, "y"})) == std::nullopt);
}

TEST_CASE("a template whose first field is open finds the oldest tuple, whatever list has it") {
  TupleSpace space(TupleSpace::Conflicts::by_first_field);
  std::uint64_t place = 0;
  const auto put = [&](const std::string& first) {
    space.apply(TupleSpace::out({first, "x"}), {.instance = ++place});
  };
  for (const char* first : {"c", "a", "d", "b"}) put(first);
  TupleSpace restored(TupleSpace::Conflicts::by_first_field);
  REQUIRE(restored.restore(bytes_of(space.snapshot())));
  const Buffer any = TupleSpace::inp({std::nullopt, "x"});
  std::string order;
  while (const auto found = TupleSpace::decode_reply(restored.apply(any, {}))) {
    order += found->front();
  }
  CHECK(order == "cadb");
  // Two first fields conflict with the open one and not with each other.
  const auto named = space.keys(TupleSpace::inp({"a", "x"})).writes;
  const auto other = space.keys(TupleSpace::inp({"b", "x"})).writes;
  const auto open = space.keys(any).writes;
  REQUIRE(named.size() == 1);
  CHECK(named != other);
  CHECK(std::count(open.begin(), open.end(), named[0]) == 1);
  CHECK(std::count(open.begin(), open.end(), other[0]) == 1);
}

TEST_CASE("whatever bytes come, the services take or refuse them, and images come back whole") {
  Random random(3);
  LinkedList list(20);
  TupleSpace space(TupleSpace::Conflicts::all);
  const Buffer samples[] = {LinkedList::encode({LinkedList::Action::add, 77}),
                            TupleSpace::out({"a", "bc"}),
                            TupleSpace::inp({std::nullopt, "bc", std::nullopt})};
  for (int i = 0; i < 20'000; ++i) {
    Buffer bytes = samples[random.below(std::size(samples))];
    for (std::uint64_t n = random.below(3); n > 0; --n) {
      bytes.data()[random.below(bytes.size())] = static_cast<std::byte>(random.next());
    }
    bytes.resize(bytes.size() - random.below(3));
    for (StateMachine* machine : std::initializer_list<StateMachine*>{&list, &space}) {
      machine->keys(bytes);
      machine->apply(bytes, {});
      (void)machine->query(bytes);
      const auto before = bytes_of(machine->snapshot());
      if (!machine->restore(bytes))
        CHECK(as_text(bytes_of(machine->snapshot())) == as_text(before));
    }
  }
  TupleSpace other(TupleSpace::Conflicts::all);
  const Buffer image = bytes_of(space.snapshot());
  CHECK(other.restore(image));
  CHECK(as_text(bytes_of(other.snapshot())) == as_text(image));
}
