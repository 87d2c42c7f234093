#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "jobs/protocol/history.h"
#include "jobs/protocol/job.h"
#include "jobs/protocol/operations.h"
#include "jobs/protocol/users.h"
#include "jobs/state/job_table.h"
#include "jobs/state/stream_board.h"

namespace piracema::jobs {

/// What is asked of a cluster and changes nothing, also what nodes tell beside the order. Of one
/// moment: it is made for a question, and looks at what the state has.
class Questions {
 public:
  struct State {
    const JobTable& jobs;
    const std::map<std::string, Node>& nodes;
    const Users& users;
    const History& history;
    StreamBoard& streams;
    /// The group's clock at the last operation.
    std::uint64_t now_ms = 0;
  };
  explicit Questions(State state) : state_(state) {}

  /// Nothing: it is no question (is_question).
  std::optional<Answer> answer(const Operation& operation) const;
  Answer on(const ShowJob&) const;

 private:
  Answer on(const ListJobs&) const;
  Answer on(const ListNodes&) const;
  Answer on(const ListUsers&) const;
  Answer on(const ListEvents&) const;
  Answer on(const AwaitEvents&) const;
  Answer on(const AwaitOrders&) const;
  Answer on(const AwaitJob&) const;
  Answer on(const TellStreams&) const;
  Answer on(const ListStreams&) const;
  Answer nothing_new() const { return {.now_ms = state_.now_ms}; }

  const State state_;
};

}  // namespace piracema::jobs
