#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <tuple>
#include <vector>

namespace piracema::jobs {

/// What has happened to a cluster that is not the rule: for whoever asks in the morning what the
/// night was like. Jobs that begin once and end well are the rule.
struct Event {
  enum class Kind : std::uint8_t {
    node_joined,     ///< A process is there for the node.
    node_lost,       ///< It was not heard of.
    node_returned,   ///< It is heard of again; nothing of its jobs lives there.
    node_left,       ///< It has ended in order.
    node_drains,     ///< Somebody has asked for it, or its process is about to end.
    node_undrained,  ///< Jobs begin there again.
    node_closed,     ///< Its machine is its owner's again.
    node_opened,     ///< Its machine is lent again.
    node_forgotten,  ///< It is no part of the cluster any more.
    job_lost_node,   ///< It waits for another one, or loses a part that ran there.
    job_moves,       ///< It was asked to leave.
    job_failed,      ///< An attempt of it, by itself.
    job_began_again,
    job_over,  ///< It has failed for good, or somebody has cancelled it.
    user_put,  ///< New, or with another role or account.
    user_dropped,
    node_full,      ///< Its home has no room: nothing begins there, and what runs stays.
    node_has_room,  ///< It has room again.
    job_suspended,  ///< It stands still: a user is at its machine.
    job_resumed,    ///< It goes on: he has gone in time.
  };
  /// Counts all that has happened, from 1.
  std::uint64_t number = 0;
  /// By the group's clock.
  std::uint64_t at_ms = 0;
  Kind kind = Kind::node_joined;
  /// Those that it is about; what it is not about is empty.
  std::string node, user;
  std::uint64_t job = 0;
  std::uint32_t attempt = 0;
  std::string why;
  auto fields() { return std::tie(number, at_ms, kind, node, user, job, attempt, why); }
};
const char* name_of(Event::Kind kind);

/// The last events of a cluster, in their order. Pure.
class History {
 public:
  static constexpr std::size_t events_max = 1'000;

  /// From now on events are of that time.
  void pass(std::uint64_t now_ms) { now_ms_ = now_ms; }
  /// Number and time are the history's own.
  void add(Event event);

  /// From that number on, as many as there are.
  std::vector<Event> from(std::uint64_t number) const;
  std::uint64_t last() const { return last_; }
  /// Takes the place of all; false, and nothing has changed, if they are not in order.
  bool replace(std::vector<Event> events);

 private:
  std::deque<Event> events_;
  std::uint64_t last_ = 0, now_ms_ = 0;
};

}  // namespace piracema::jobs
