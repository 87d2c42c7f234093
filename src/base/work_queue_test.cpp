#include "base/work_queue.h"

#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <vector>

using namespace piracema;

TEST_CASE("work is done in the order in which it was posted") {
  std::vector<int> done;
  {
    WorkQueue queue(WorkQueue::AtEnd::finish);
    for (int i = 0; i < 100; ++i) queue.post([&done, i] { done.push_back(i); });
  }
  std::vector<int> want;
  for (int i = 0; i < 100; ++i) want.push_back(i);
  CHECK(done == want);
}

TEST_CASE("a queue that drops finishes what it is at, and no more") {
  std::promise<void> begun, go_on;
  bool first = false;
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> dropped = held;
  {
    WorkQueue queue(WorkQueue::AtEnd::drop);
    queue.post([&] {
      begun.set_value();
      go_on.get_future().wait();
      first = true;
    });
    begun.get_future().wait();
    go_on.set_value();
  }
  CHECK(first);
  {
    WorkQueue queue(WorkQueue::AtEnd::drop);
    queue.post([held = std::move(held)] {});
  }
  CHECK(dropped.expired());
}

TEST_CASE("what a piece of work holds is gone when the next one begins") {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = held;
  bool gone = false;
  {
    WorkQueue queue(WorkQueue::AtEnd::finish);
    queue.post([held = std::move(held)] {});
    queue.post([&] { gone = seen.expired(); });
  }
  CHECK(gone);
}

TEST_CASE("work may post more work") {
  std::vector<int> done;
  {
    WorkQueue queue(WorkQueue::AtEnd::finish);
    queue.post([&] {
      done.push_back(1);
      queue.post([&] { done.push_back(2); });
    });
  }
  CHECK(done == std::vector<int>{1, 2});
}
