#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "smr/service/executor/cells_machine.h"
#include "smr/service/executor/group_executor.h"
#include "smr/service/executor/key_executor.h"
#include "smr/service/executor/make_executor.h"
#include "smr/service/executor/sequential_executor.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

constexpr Prices free_of_charge{.ignored = true};

struct Workload {
  std::vector<Buffer> operations;
  std::vector<std::uint32_t> groups;
};

Workload draw_workload(Random& random, std::size_t count) {
  Workload workload;
  const double write_share = random.unit(), all_share = random.chance(0.5) ? 0 : random.unit() / 4;
  for (std::size_t i = 0; i < count; ++i) {
    workload.operations.push_back(
        CellsMachine::encode(CellsMachine::draw(random, write_share, all_share)));
    const std::uint32_t groups[] = {conflict_none, conflict_all, 0, 1, 3, 7, 100, 101, 102, 5'000};
    workload.groups.push_back(groups[random.below(std::size(groups))]);
  }
  return workload;
}

std::vector<Task> tasks_of(const Workload& workload, bool grouped) {
  std::vector<Task> tasks(workload.operations.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].operation = workload.operations[i];
    tasks[i].context = {.instance = 7, .index = static_cast<std::uint32_t>(i), .time = 3};
    tasks[i].group = workload.groups[i];
    tasks[i].grouped = grouped && i % 3 != 0;
  }
  return tasks;
}

struct Outcome {
  std::vector<std::string> replies;
  std::vector<std::uint64_t> cells;
  bool operator==(const Outcome&) const = default;
};

Outcome execute(const CellsMachine& machine, Executor& executor, std::vector<Task> tasks) {
  Outcome outcome;
  std::mutex mutex;
  std::set<const Task*> told;
  // In windows of their own, so that experience of the first helps with the second.
  for (std::span<Task> rest = tasks; !rest.empty();) {
    const auto window = rest.first(std::min<std::size_t>(rest.size(), 300));
    rest = rest.subspan(window.size());
    executor.run(window, [&](std::span<Task* const> finished) {
      const std::lock_guard lock(mutex);
      for (const Task* task : finished) CHECK(told.insert(task).second);
    });
  }
  CHECK(told.size() == tasks.size());
  for (const Task& task : tasks) outcome.replies.emplace_back(as_text(task.reply));
  outcome.cells = machine.cells();
  return outcome;
}

Outcome execute_in_order(const Workload& workload) {
  CellsMachine machine;
  SequentialExecutor executor(machine);
  return execute(machine, executor, tasks_of(workload, false));
}

Groups some_groups(unsigned threads) {
  Groups groups(threads);
  const unsigned pair[] = {0, threads - 1}, others[] = {threads / 2};
  CHECK(groups.add_conflict_group(100, pair).ok());
  CHECK(groups.add_conflict_group(101, others).ok());
  return groups;
}

}  // namespace

TEST_CASE("whatever operations conflict, replies and state are those of doing one by one") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Workload workload = draw_workload(random, 1'400);
    const Outcome expected = execute_in_order(workload);
    for (unsigned threads = 1; threads <= 8; ++threads) {
      CAPTURE(threads);
      CellsMachine machine;
      KeyExecutor executor(machine, threads, free_of_charge);
      CHECK((execute(machine, executor, tasks_of(workload, true)) == expected));
    }
  }
}

TEST_CASE("whatever group a client names, replies and state are those of doing one by one") {
  // Barriers wait for threads to be scheduled: on a busy machine a seed takes two seconds.
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Workload workload = draw_workload(random, 1'400);
    const Outcome expected = execute_in_order(workload);
    for (unsigned threads = 1; threads <= 8; ++threads) {
      CAPTURE(threads);
      CellsMachine machine;
      GroupExecutor executor(machine, some_groups(threads), false, free_of_charge);
      CHECK((execute(machine, executor, tasks_of(workload, true)) == expected));
    }
  }
}

TEST_CASE("clients that are trusted and name the right groups get the same, too") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Workload workload;
    // Threads 0 to 3 have four cells each; one that needs more names the group of its two threads.
    for (std::size_t i = 0; i < 1'200; ++i) {
      CellsMachine::Operation operation = CellsMachine::draw(random, 0.6, 0.02);
      const auto owner = static_cast<std::uint8_t>(random.below(4));
      const bool wide = owner >= 2 && random.chance(0.3);
      for (auto& cell : operation.cells) {
        const auto whose = wide ? 2 + random.below(2) : owner;
        cell = static_cast<std::uint8_t>(4 * whose + random.below(4));
      }
      workload.operations.push_back(CellsMachine::encode(operation));
      workload.groups.push_back(operation.all ? conflict_all : wide ? 23 : owner);
    }
    const Outcome expected = execute_in_order(workload);
    Groups groups(4);
    const unsigned both[] = {2, 3};
    REQUIRE(groups.add_conflict_group(23, both).ok());
    CellsMachine machine;
    GroupExecutor executor(machine, groups, true, free_of_charge);
    std::vector<Task> tasks = tasks_of(workload, true);
    for (Task& task : tasks) task.grouped = true;
    CHECK((execute(machine, executor, std::move(tasks)) == expected));
  }
}

namespace {

// Operations that return only when so many are being executed at once.
class MeetingMachine final : public StateMachine {
 public:
  explicit MeetingMachine(int wanted) : wanted_(wanted) {}
  Buffer apply(Bytes, const Context&) override {
    inside_.fetch_add(1);
    inside_.notify_all();
    for (int seen = inside_; seen < wanted_; seen = inside_) inside_.wait(seen);
    return {};
  }
  Buffer query(Bytes) const override { return {}; }
  Keys keys(Bytes operation) const override {
    Keys keys;
    keys.reads = {1};
    keys.writes = {2 + static_cast<std::uint64_t>(operation[0])};
    return keys;
  }
  Image snapshot() override { return {}; }
  bool restore(Bytes) override { return true; }

 private:
  const int wanted_;
  std::atomic<int> inside_{0};
};

void let_them_meet(Executor& executor) {
  std::vector<Task> long_ones(3);
  const std::byte names[] = {std::byte{1}, std::byte{2}, std::byte{3}};
  for (std::size_t i = 0; i < 3; ++i) {
    long_ones[i].operation = Bytes(names).subspan(i, 1);
    long_ones[i].group = conflict_none;
    long_ones[i].grouped = true;
  }
  const auto ignore = [](std::span<Task* const>) {};
  executor.run(long_ones, ignore);
}

}  // namespace

TEST_CASE("three operations that do not conflict are executed at once by three threads") {
  if (std::thread::hardware_concurrency() < 2) return;
  const std::optional<ConflictGroups> ways[] = {std::nullopt, ConflictGroups{}};
  for (const auto& groups : ways) {
    MeetingMachine machine(3);
    const auto executor = make_executor(machine, 3, groups, free_of_charge);
    REQUIRE(executor.ok());
    let_them_meet(**executor);
  }
}

TEST_CASE("a run of conflicts stays on the caller's thread") {
  struct Machine final : StateMachine {
    std::set<std::thread::id> threads;
    Buffer apply(Bytes, const Context&) override {
      threads.insert(std::this_thread::get_id());
      return {};
    }
    Buffer query(Bytes) const override { return {}; }
    Keys keys(Bytes) const override { return {.reads = {}, .writes = {1}, .all = false}; }
    Image snapshot() override { return {}; }
    bool restore(Bytes) override { return true; }
  } machine;
  KeyExecutor executor(machine, 4, free_of_charge);
  for (int window = 0; window < 3; ++window) {
    std::vector<Task> tasks(500);
    executor.run(tasks, [](std::span<Task* const>) {});
  }
  CHECK((machine.threads == std::set{std::this_thread::get_id()}));
}

TEST_CASE("a conflict group has to be new and its threads have to exist") {
  Groups groups(4);
  const unsigned right[] = {1, 3}, wrong[] = {1, 4};
  CHECK(groups.add_conflict_group(9, right).ok());
  CHECK(groups.threads_of(9) == 0b1010);
  CHECK(groups.threads_of(2) == 0b0100);
  CHECK(groups.threads_of(conflict_all) == 0b1111);
  CHECK(groups.threads_of(77) == 0b1111);

  CHECK(groups.add_conflict_group(9, right).error().message ==
        "conflict group 9: there is one already");
  CHECK(groups.add_conflict_group(10, wrong).error().message ==
        "conflict group 10: want threads 0 to 3, found 4");
  CHECK_FALSE(groups.add_conflict_group(3, right).ok());
  CHECK_FALSE(groups.add_conflict_group(conflict_all, right).ok());
  CHECK_FALSE(groups.add_conflict_group(11, {}).ok());
}
