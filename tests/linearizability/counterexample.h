#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "linearizability/frontier.h"

namespace piracema::linearizability {

/// An operation as people see it.
template <class Model>
struct ShownOperation {
  std::uint64_t client = 0;
  typename Model::Input input{};
  /// nullopt: never answered.
  std::optional<typename Model::Output> output;
  Time call{}, answer{};
};

/// Keeps the last operations of a key, and where they began, so that a history that is not possible
/// can be shown by few of them: what began when nothing was under way for the last time, without
/// what can be left out, and some of what was before.
template <class Model>
class Counterexample {
 public:
  using Shown = ShownOperation<Model>;

  /// The next event of the history; `before` is what was possible up to it.
  void add(std::uint32_t number, const Shown& operation, bool is_answer,
           const Frontier<Model>& before) {
    if (before.is_idle() && steps_.size() >= steps_max) {
      former_ = std::exchange(steps_, {});
      start_ = before;
    }
    // A key that is never idle: its beginning is kept, and what is no longer seen is not.
    if (steps_.size() < 64 * steps_max) steps_.push_back({number, operation, is_answer});
  }

  /// Of a history the last event of which was not possible.
  std::string explain() const {
    Frontier<Model> start = start_, at = start_;
    std::size_t first = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (at.is_idle()) {
        start = at;
        first = i;
      }
      if (!apply(at, steps_[i])) break;
    }
    std::vector<Step> few(steps_.begin() + static_cast<std::ptrdiff_t>(first), steps_.end());
    leave_out_what_can_be(start, few);
    std::string text = "no order of these operations explains their answers; it held ";
    const auto states = start.states();
    for (std::size_t i = 0; i < states.size(); ++i) {
      text += concat(i == 0 ? "" : " or ", Model::text(states[i]));
    }
    text += concat(", and ", start.open_count(), " unanswered ones may still have happened:\n");
    for (const Step& step : few) {
      if (!step.is_answer) text += line(step.operation);
    }
    text += concat("  there is no place for: ", line(steps_.back().operation).substr(2));
    return text + "what was before:\n" + what_was_before(first);
  }

 private:
  static constexpr std::size_t steps_max = 256, shown_max = 12;
  struct Step {
    std::uint32_t number = 0;
    Shown operation;
    bool is_answer = false;
  };

  // False if it is not possible.
  static bool apply(Frontier<Model>& frontier, const Step& step) {
    const Shown& operation = step.operation;
    if (step.is_answer) return frontier.answered(step.number) == Frontier<Model>::Is::possible;
    if (!operation.output) {
      frontier.called_in_vain(operation.input);
      return true;
    }
    return frontier.called(step.number, operation.input, *operation.output);
  }
  static bool is_possible(Frontier<Model> frontier, const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (!apply(frontier, step)) return false;
    }
    return true;
  }

  // Only what changes nothing: without a write what has seen it would look wrong.
  static void leave_out_what_can_be(const Frontier<Model>& start, std::vector<Step>& steps) {
    for (std::size_t i = steps.size(); i-- > 0;) {
      if (i >= steps.size() || steps[i].is_answer) continue;
      const Shown& operation = steps[i].operation;
      if (!operation.output || !Model::changes_nothing(operation.input, *operation.output))
        continue;
      std::vector<Step> fewer = steps;
      std::erase_if(fewer, [&](const Step& step) { return step.number == steps[i].number; });
      if (!is_possible(start, fewer)) steps = std::move(fewer);
    }
  }

  std::string what_was_before(std::size_t first) const {
    std::vector<std::string> lines;
    for (std::size_t i = first; i-- > 0 && lines.size() < shown_max;) {
      if (!steps_[i].is_answer) lines.push_back(line(steps_[i].operation));
    }
    for (std::size_t i = former_.size(); i-- > 0 && lines.size() < shown_max;) {
      if (!former_[i].is_answer) lines.push_back(line(former_[i].operation));
    }
    std::string text;
    for (std::size_t i = lines.size(); i-- > 0;) text += lines[i];
    return text;
  }
  static std::string line(const Shown& operation) {
    char times[80];
    const auto ms = [](Time time) { return static_cast<double>(time.count()) / 1e6; };
    if (operation.output) {
      std::snprintf(times, sizeof times, "  %14.3f to %14.3f ms", ms(operation.call),
                    ms(operation.answer));
    } else {
      std::snprintf(times, sizeof times, "  %14.3f to %17s", ms(operation.call), "(no answer)");
    }
    return concat(std::string(times), "  client ", operation.client, ": ",
                  Model::text(operation.input), " ",
                  operation.output ? Model::text(operation.input, *operation.output) : "", "\n");
  }

  Frontier<Model> start_;
  std::vector<Step> steps_, former_;
};

}  // namespace piracema::linearizability
