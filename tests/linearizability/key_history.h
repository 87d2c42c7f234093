#pragma once

#include <map>
#include <set>
#include <string>

#include "base/clock.h"
#include "linearizability/counterexample.h"
#include "linearizability/frontier.h"

namespace piracema::linearizability {

/// What clients ask of one key and hear, checked as soon as the outcome of all that was asked
/// before is known; then forgotten but for what a counterexample shows. One thread at a time.
///
/// Who says `called` says it before asking, and `answered` after the answer: the times of both, by
/// one clock, never go back.
template <class Model>
class KeyHistory {
 public:
  using Input = typename Model::Input;
  using Output = typename Model::Output;
  using Number = std::uint32_t;
  using Is = typename Frontier<Model>::Is;

  /// Somebody asks. The number is for `answered` or `lost`, one of which has to follow.
  Number called(std::uint64_t client, const Input& input, Time time) {
    const Number number = next_++;
    operations_[number] = {client, input, std::nullopt, time, {}, false};
    events_.insert({time, next_event_++, number, false});
    return number;
  }
  void answered(Number number, const Output& output, Time time) {
    auto& operation = operations_.at(number);
    operation.output = output;
    operation.answer = time;
    operation.is_known = true;
    events_.insert({time, next_event_++, number, true});
    take_in();
  }
  /// No answer will come: it may happen at any time after the call, or never.
  void lost(Number number) {
    operations_.at(number).is_known = true;
    take_in();
  }
  /// Something that may happen by itself, not before `earliest`, as the end of a lease: later, if
  /// `put_off` says so. From then on it is `lost`, or with `cancel` it never was.
  Number expects(const Input& input, Time earliest) { return called(0, input, earliest); }
  void put_off(Number number, Time earliest) {
    auto& operation = operations_.at(number);
    if (earliest <= operation.call) return;
    remove_call_of(number);
    operation.call = earliest;
    events_.insert({earliest, next_event_++, number, false});
  }
  void cancel(Number number) {
    remove_call_of(number);
    operations_.erase(number);
    take_in();
  }

  /// Of what was taken in so far.
  Is verdict() const { return verdict_; }
  /// Of a history that is not possible: people read it.
  const std::string& why() const { return why_; }
  /// Operations that were taken in; that have yet to be; that may still happen and were lost.
  std::uint64_t checked() const { return checked_; }
  std::size_t waiting() const { return operations_.size(); }
  std::size_t open() const { return frontier_.open_count(); }

 private:
  using Shown = ShownOperation<Model>;
  struct Operation : Shown {
    bool is_known = false;
  };
  struct Event {
    Time time;
    std::uint64_t order;
    Number number;
    bool is_answer;
    auto operator<=>(const Event& other) const {
      return std::tie(time, order) <=> std::tie(other.time, other.order);
    }
    bool operator==(const Event&) const = default;
  };

  void remove_call_of(Number number) {
    const Time time = operations_.at(number).call;
    for (auto at = events_.lower_bound({time, 0, 0, false}); at != events_.end(); ++at) {
      if (at->number != number) continue;
      events_.erase(at);
      return;
    }
  }

  void take_in() {
    while (verdict_ == Is::possible && !events_.empty()) {
      const Event event = *events_.begin();
      const auto found = operations_.find(event.number);
      const Operation& operation = found->second;
      if (!operation.is_known) return;
      events_.erase(events_.begin());
      shown_.add(event.number, operation, event.is_answer, frontier_);
      if (event.is_answer) {
        verdict_ = frontier_.answered(event.number);
        checked_ += 1;
        operations_.erase(found);
      } else if (operation.output) {
        if (!frontier_.called(event.number, operation.input, *operation.output)) {
          verdict_ = Is::undecided;
        }
      } else {
        frontier_.called_in_vain(operation.input);
        checked_ += 1;
        operations_.erase(found);
      }
    }
    if (verdict_ == Is::impossible && why_.empty()) why_ = shown_.explain();
  }

  Frontier<Model> frontier_;
  Counterexample<Model> shown_;
  std::map<Number, Operation> operations_;
  std::set<Event> events_;
  Number next_ = 0;
  std::uint64_t next_event_ = 0, checked_ = 0;
  Is verdict_ = Is::possible;
  std::string why_;
};

}  // namespace piracema::linearizability
