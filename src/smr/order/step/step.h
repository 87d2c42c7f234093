#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "smr/order/messages/actions.h"
#include "smr/order/step/membership.h"

namespace piracema::smr {

/// The step that is under way: its time, and what is to be done when it is over. All parts of a
/// core write to the same one, in the order in which it is to happen. Keeps no actions itself.
class Step {
 public:
  explicit Step(const Membership& members) : members_(members) {}

  /// Time never goes back.
  void begin(Time now, std::vector<Action>& out);
  Time now() const { return now_; }
  /// For those who append their actions themselves.
  std::vector<Action>& out() { return *out_; }

  /// While the log is replayed nothing is persisted: it is in the log already.
  void set_replaying(bool replaying) { replaying_ = replaying; }
  bool replaying() const { return replaying_; }

  template <class A>
  void act(A action) {
    out_->emplace_back(std::in_place_type<A>, std::move(action));
  }
  void persist(LogRecord record) {
    if (!replaying_) act(Persist{std::move(record)});
  }
  void note(std::string text, bool warning = false) { act(Note{warning, std::move(text)}); }
  /// This replica does nothing any more.
  void halt(std::string why);
  bool halted() const { return halted_; }

  template <class M>
  void send(ReplicaId to, M m, bool after_log = false) {
    act(Send{to, message(std::move(m)), after_log});
  }
  /// To all members but this replica.
  void send_others(const MessagePtr& m, bool after_log = false);
  /// To this replica as well: it comes back once it is durable.
  void send_all(const MessagePtr& m, bool after_log);

 private:
  const Membership& members_;
  Time now_{};
  std::vector<Action>* out_ = nullptr;
  bool replaying_ = false, halted_ = false;
};

}  // namespace piracema::smr
