#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/work_queue.h"
#include "host/onlooker_messages.h"
#include "observe/http/job_pages.h"
#include "observe/status/board.h"

namespace piracema::cluster {

/// How a request and a response go to another process, and are there what they were. Who asks was
/// looked at before, and does not go along.
PageAsked to_message(std::uint64_t id, const observe::Request& request);
observe::Request from_message(const PageAsked& asked);
PageAnswered to_message(std::uint64_t id, observe::Response response);
observe::Response from_message(PageAnswered answered);

/// Answers what onlookers ask of a job that this process coordinates, on a thread of its own: who
/// coordinates does not wait for it.
class PageDesk {
 public:
  using Reply = std::function<void(PageAnswered)>;

  /// `board` outlives it. Destroying it waits for the question at hand: its job has ended by then,
  /// or answers within 5 s.
  explicit PageDesk(observe::Board& board) : pages_(board) {}

  /// `reply` is called by the desk's thread, or not at all if the desk is gone before it is the
  /// question's turn. With too many questions under way it is called from within, with a 503.
  void ask(PageAsked asked, Reply reply);

 private:
  observe::JobPages pages_;
  std::atomic<int> under_way_ = 0;
  /// The last member: its thread uses the others.
  WorkQueue thread_{WorkQueue::AtEnd::drop};
};

}  // namespace piracema::cluster
