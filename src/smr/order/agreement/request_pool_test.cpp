#include "smr/order/agreement/request_pool.h"

#include <doctest/doctest.h>

#include <string>

using namespace piracema;
using namespace piracema::smr;

namespace {

constexpr Time second = std::chrono::seconds(1);

Request request(ClientId client, Sequence sequence, std::size_t bytes = 0,
                std::uint64_t session = 1) {
  Request one{.client = client, .session = session, .sequence = sequence};
  one.operation.resize(bytes);
  return one;
}

std::string order_of(const BatchPtr& batch) {
  std::string out;
  for (const Request& one : batch->requests) {
    out += std::to_string(one.client) + "." + std::to_string(one.sequence) + " ";
  }
  return out;
}

}  // namespace

TEST_CASE("clients take turns, and each keeps its own order") {
  RequestPool pool(Settings{});
  for (Sequence s = 1; s <= 3; ++s) pool.add(request(1, s), Time{}, {});
  pool.add(request(2, 1), Time{}, {});
  CHECK(order_of(pool.propose(0)) == "1.1 2.1 1.2 1.3 ");
  CHECK_FALSE(pool.has_waiting());
}

TEST_CASE("a batch ends where its bounds do, but one large request is a batch") {
  Settings settings;
  settings.batch_requests = 2;
  settings.batch_bytes = 1'000;
  RequestPool pool(settings);
  for (Sequence s = 1; s <= 3; ++s) pool.add(request(1, s), Time{}, {});
  pool.add(request(1, 4, 5'000), Time{}, {});
  pool.add(request(1, 5), Time{}, {});
  CHECK(order_of(pool.propose(0)) == "1.1 1.2 ");
  CHECK(order_of(pool.propose(0)) == "1.3 ");
  CHECK(order_of(pool.propose(0)) == "1.4 ");
  CHECK(order_of(pool.propose(0)) == "1.5 ");
}

TEST_CASE("a request is in the pool once, and does not come back after it was decided") {
  RequestPool pool(Settings{});
  CHECK(pool.add(request(1, 1), Time{}, {}) == RequestPool::Added::fresh);
  CHECK(pool.add(request(1, 1), Time{}, {}) == RequestPool::Added::known);
  const BatchPtr batch = pool.propose(0);
  CHECK(pool.add(request(1, 1), Time{}, {}) == RequestPool::Added::known);
  pool.decided(batch->requests);
  CHECK(pool.size() == 0);
  CHECK(pool.bytes() == 0);
  CHECK(pool.add(request(1, 1), Time{}, {}) == RequestPool::Added::known);
  // Another session counts anew.
  CHECK(pool.add(request(1, 1, 0, 2), Time{}, {}) == RequestPool::Added::fresh);
}

TEST_CASE("a request that waits here leaves when others have decided it") {
  RequestPool pool(Settings{});
  for (Sequence s = 1; s <= 3; ++s) pool.add(request(1, s), Time{}, {});
  pool.decided({request(1, 2)});
  CHECK(order_of(pool.propose(0)) == "1.1 1.3 ");
  pool.decided({request(1, 1), request(1, 3)});
  CHECK(pool.size() == 0);
}

TEST_CASE("a request that is older than what is remembered is not lost") {
  RequestPool pool(Settings{});
  pool.decided({request(1, 5'000)});
  CHECK(pool.add(request(1, 1), Time{}, {}) == RequestPool::Added::fresh);
  CHECK(pool.add(request(1, 4'999), Time{}, {}) == RequestPool::Added::fresh);
  CHECK(pool.add(request(1, 5'000), Time{}, {}) == RequestPool::Added::known);
}

TEST_CASE("one client, all clients, and their bytes are bounded") {
  Settings settings;
  settings.client_requests = 2;
  settings.pool_requests = 3;
  settings.pool_bytes = 1'000;
  RequestPool pool(settings);
  pool.add(request(1, 1), Time{}, {});
  pool.add(request(1, 2), Time{}, {});
  CHECK(pool.add(request(1, 3), Time{}, {}) == RequestPool::Added::full);
  CHECK(pool.add(request(2, 1, 2'000), Time{}, {}) == RequestPool::Added::full);
  CHECK(pool.add(request(2, 1), Time{}, {}) == RequestPool::Added::fresh);
  CHECK(pool.add(request(3, 1), Time{}, {}) == RequestPool::Added::full);
  pool.decided({request(1, 1)});
  CHECK(pool.add(request(3, 1), Time{}, {}) == RequestPool::Added::fresh);
}

TEST_CASE("a client with large requests leaves room for the others") {
  Settings settings;
  settings.client_bytes = 5'000;
  settings.pool_bytes = 8'000;
  RequestPool pool(settings);
  CHECK(pool.add(request(1, 1, 4'000), Time{}, {}) == RequestPool::Added::fresh);
  CHECK(pool.add(request(1, 2, 2'000), Time{}, {}) == RequestPool::Added::full);
  CHECK(pool.add(request(2, 1, 2'000), Time{}, {}) == RequestPool::Added::fresh);
  pool.decided({request(1, 1, 4'000)});
  CHECK(pool.add(request(1, 2, 2'000), Time{}, {}) == RequestPool::Added::fresh);
}

TEST_CASE("the first timer forwards a request, the second is overdue, each once") {
  RequestPool pool(Settings{});
  pool.add(request(1, 1), Time{}, {});
  CHECK(pool.next_deadline({second, second}) == second);
  CHECK(pool.expire(second - Time{1}, {second, second}).forward.empty());
  auto expired = pool.expire(second, {second, second});
  CHECK(expired.forward.size() == 1);
  CHECK_FALSE(expired.overdue);
  CHECK(pool.expire(second, {second, second}).forward.empty());
  expired = pool.expire(2 * second, {second, second});
  CHECK(expired.forward.empty());
  CHECK(expired.overdue);
  CHECK_FALSE(pool.expire(2 * second, {second, second}).overdue);
}

TEST_CASE("who jumps to a checkpoint waits for nothing of before, and takes it again") {
  RequestPool pool(Settings{});
  pool.add(request(1, 1), Time{}, {});
  pool.add(request(1, 2), Time{}, {});
  pool.expire(second, {second, second});
  pool.add(request(2, 1), second, {});
  pool.propose(0);
  pool.forget_waiting();
  CHECK(pool.size() == 0);
  CHECK(pool.bytes() == 0);
  CHECK_FALSE(pool.has_waiting());
  CHECK(pool.next_deadline({second, second}) == std::nullopt);
  CHECK(pool.add(request(1, 2), second, {}) == RequestPool::Added::fresh);
}

TEST_CASE("patience with a leader does not hold back what others have to hear of") {
  RequestPool pool(Settings{});
  pool.add(request(1, 1), Time{}, {});
  const RequestPool::Patience patience{second, 8 * second};
  CHECK(pool.expire(second, patience).forward.size() == 1);
  CHECK(pool.next_deadline(patience) == 9 * second);
  CHECK_FALSE(pool.expire(9 * second - Time{1}, patience).overdue);
  CHECK(pool.expire(9 * second, patience).overdue);
}

TEST_CASE("what was proposed in vain waits again, with new timers") {
  RequestPool pool(Settings{});
  pool.add(request(1, 1, 10), Time{}, {});
  pool.propose(0);
  pool.expire(second, {second, second});
  pool.start_again(5 * second);
  CHECK(pool.next_deadline({second, second}) == 6 * second);
  const BatchPtr again = pool.propose(0);
  REQUIRE(again->requests.size() == 1);
  CHECK(again->requests[0].operation.size() == 10);
}

TEST_CASE("after its second failure in a row a client needs vouchers until it succeeds") {
  RequestPool pool(Settings{});
  pool.add(request(1, 1), Time{}, {});
  pool.suspect(1, 2);
  CHECK(pool.has_waiting());
  pool.suspect(1, 2);
  CHECK_FALSE(pool.has_waiting());
  pool.add(request(1, 1), Time{}, 3);
  pool.add(request(1, 1), Time{}, 3);
  CHECK_FALSE(pool.has_waiting());
  pool.add(request(1, 1), Time{}, 2);
  CHECK(pool.has_waiting());
  pool.decided(pool.propose(0)->requests);
  pool.add(request(1, 2), Time{}, {});
  CHECK(pool.has_waiting());
}
