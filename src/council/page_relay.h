#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "council/leader_line.h"
#include "host/onlooker_messages.h"
#include "loop/poller.h"
#include "observe/http/pages.h"

namespace piracema::council {

/// What is told of a job that other processes coordinate, one after the other: whoever leads is
/// asked, by the line of the command. While there is nobody, questions wait for the next one. A
/// question that only looks is asked anew when the one that had it is lost; one that changes
/// something may have done so, and is answered with 503. What the page shows of the past goes from
/// one that led to the next.
class PageRelay final : public observe::Pages {
 public:
  /// Any thread; waits for an answer, 2 s for somebody to ask and 6 s in all.
  observe::Response get(const observe::Request& request, Time now) override;
  observe::Response post(const observe::Request& request) override;

  // What follows is for the poller's thread.

  /// Questions go by this line from now on, whose events call what stands below. Both stay until
  /// `end`.
  void begin(net::Poller& poller, LeaderLine& line);
  /// The job is over: all that was asked, and will be, is answered with 503.
  void end();
  void came();
  void left();
  void answered(cluster::PageAnswered answer);
  /// By whoever leads.
  void told(cluster::PastOfJob past);

 private:
  struct Question {
    cluster::PageAsked asked;
    bool may_be_asked_again = false, is_on_its_way = false;
    std::promise<observe::Response> answer;
  };

  observe::Response ask(const observe::Request& request, bool may_be_asked_again);
  void send_all();

  std::mutex mutex_;
  net::Poller* poller_ = nullptr;
  LeaderLine* line_ = nullptr;
  bool over_ = false;
  /// Told last.
  std::optional<cluster::PastOfJob> past_;
  std::uint64_t asked_ = 0;
  /// Until they are answered, or nobody waits any more.
  std::map<std::uint64_t, Question> questions_;
};

}  // namespace piracema::council
