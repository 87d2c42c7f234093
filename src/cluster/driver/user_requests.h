#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "control/coordinator_actions.h"
#include "control/coordinator_events.h"
#include "loop/poller.h"
#include "observe/status/board.h"

namespace piracema::cluster {

/// What users want of a job that runs, by its board: from any thread, told on the poller's. What
/// the coordinator has not answered in the end is answered as a job that is over.
class UserRequests {
 public:
  struct Events {
    /// The job is to end.
    std::function<void()> stop;
    /// Why this cannot be, before the coordinator is asked; nothing: it may.
    std::function<std::optional<std::string>(const UserRequest&)> refusal;
    std::function<void(UserAsked)> asked;
  };
  /// `board` may be null: nobody looks; it outlives this.
  UserRequests(net::Poller& poller, observe::Board* board, Events events);

  void answer(const AnswerRequest& answer);
  /// Nobody is heard from now on.
  void close();

 private:
  void take(UserRequest request, observe::Board::Answer answer);

  net::Poller& poller_;
  observe::Board* const board_;
  const Events events_;
  std::uint64_t count_ = 0;
  std::map<std::uint64_t, observe::Board::Answer> answers_;
};

}  // namespace piracema::cluster
