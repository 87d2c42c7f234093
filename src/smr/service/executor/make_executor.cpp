#include "smr/service/executor/make_executor.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "smr/service/executor/group_executor.h"
#include "smr/service/executor/key_executor.h"
#include "smr/service/executor/sequential_executor.h"

namespace piracema::smr {

Result<std::unique_ptr<Executor>> make_executor(StateMachine& machine, unsigned threads,
                                                const std::optional<ConflictGroups>& groups,
                                                const Prices& prices) {
  using Made = std::unique_ptr<Executor>;
  if (threads > Groups::threads_max) {
    return Error{Errc::config, concat("execution threads: want at most ", Groups::threads_max,
                                      ", found ", threads)};
  }
  if (threads < 2 && !groups) return Made(std::make_unique<SequentialExecutor>(machine));
  if (!groups) return Made(std::make_unique<KeyExecutor>(machine, threads, prices));
  Groups known(std::max(1u, threads));
  for (const auto& [number, members] : groups->added) {
    if (auto added = known.add_conflict_group(number, members); !added) return added.error();
  }
  return Made(
      std::make_unique<GroupExecutor>(machine, std::move(known), groups->trust_clients, prices));
}

}  // namespace piracema::smr
