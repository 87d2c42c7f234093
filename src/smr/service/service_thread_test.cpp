#include "smr/service/service_thread.h"

#include <doctest/doctest.h>

#include <future>

#include "smr/service/executor/cells_machine.h"
#include "smr/service/executor/sequential_executor.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

BatchPtr batch_of(Sequence sequence) {
  auto batch = std::make_shared<Batch>();
  if (sequence == 1) {
    batch->requests.push_back({5, 0, 1, Kind::open, 0, {}, {}});
    return batch;
  }
  CellsMachine::Operation operation;
  operation.write_count = 1;
  batch->requests.push_back(
      {5, 1, sequence, Kind::ordered, 0, CellsMachine::encode(operation), {}});
  return batch;
}

}  // namespace

TEST_CASE("a checkpoint is of its place in the order, however far execution has gone on") {
  CellsMachine machine, twin;
  SequentialExecutor executor(machine), its_executor(twin);
  const auto ignore = [](std::vector<Reply>) {};
  Service service({}, machine, executor, ignore), expected({}, twin, its_executor, ignore);
  constexpr Instance last = 400, place = 150;
  for (Instance i = 1; i <= place; ++i) {
    const Execute decided{i, batch_of(i)};
    expected.execute({&decided, 1});
  }

  std::promise<Checkpoint> taken;
  std::promise<void> all;
  {
    ServiceThread thread(service, [&all, before = Instance{0}](
                                      Instance executed, std::optional<std::uint64_t>) mutable {
      CHECK(executed > before);
      before = executed;
      if (executed == last) all.set_value();
    });
    for (Instance i = 1; i <= last; ++i) {
      thread.execute({i, batch_of(i)});
      if (i == place) {
        thread.take_checkpoint(
            {}, Pieces::kept, [&taken](Checkpoint c) { taken.set_value(std::move(c)); },
            [] { FAIL("a small state is always worth a checkpoint"); });
      }
    }
    const Checkpoint checkpoint = taken.get_future().get();
    CHECK(checkpoint.info.instance == place);
    CHECK(checkpoint.info.state == expected.snapshot()().info.state);
    all.get_future().wait();
  }
  CHECK(service.executed() == last);
}

TEST_CASE("what is posted sees all that was asked before and nothing that was asked after") {
  CellsMachine machine;
  SequentialExecutor executor(machine);
  Service service({}, machine, executor, [](std::vector<Reply>) {});
  ServiceThread thread(service, [](Instance, std::optional<std::uint64_t>) {});
  for (Instance i = 1; i <= 300; ++i) {
    thread.execute({i, batch_of(i)});
    if (i % 50 != 0) continue;
    thread.post([i](Service& s) { CHECK(s.executed() == i); });
  }
  std::promise<void> done;
  thread.post([&done](Service&) { done.set_value(); });
  done.get_future().wait();
}
