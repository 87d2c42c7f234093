#include "run/threads/run_queue.h"

#include <doctest/doctest.h>

using piracema::runtime::RunQueue;

TEST_CASE("so many may run as there are permits, in the order in which they came") {
  RunQueue<int> queue(2);
  for (const int task : {1, 2, 3}) queue.put(task);
  CHECK(queue.take() == 1);
  CHECK_FALSE(queue.others_wait());
  CHECK(queue.take() == 2);
  CHECK(queue.take() == std::nullopt);
  CHECK(queue.others_wait());
  queue.give_back();
  CHECK(queue.take() == 3);
  CHECK_FALSE(queue.others_wait());
}

TEST_CASE("one that has waited in the middle of a turn goes on before others begin one") {
  RunQueue<int> queue(1);
  queue.put(1);
  queue.put(2);
  CHECK(queue.take() == 1);
  queue.give_back();  // It waits.
  CHECK(queue.take() == 2);
  queue.put(3);
  queue.want_back();  // It was woken.
  CHECK_FALSE(queue.come_back());
  CHECK(queue.others_wait());
  queue.give_back();
  CHECK_FALSE(queue.can_take());
  CHECK(queue.take() == std::nullopt);
  CHECK(queue.can_come_back());
  CHECK(queue.come_back());
  queue.give_back();
  CHECK(queue.take() == 3);
}
