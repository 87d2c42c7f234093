#pragma once

#include <algorithm>
#include <string>
#include <unordered_set>

#include "base/text.h"
#include "linearizability/history.h"

namespace piracema::linearizability {

struct Verdict {
  enum class Is { linearizable, impossible, undecided };
  Is is = Is::linearizable;
  /// Of one that is not linearizable: what nobody found a place for.
  std::string why;
};

/// The search of Wing and Gong (1993): take any operation that nothing unfinished precedes as the
/// next one, and go back when its answer is not what the model gives. Lowe (2017): the same set of
/// operations that led to the same state has been tried before, whatever its order was.
///
/// A model has State (==), Input, Output, `start()`, `hash(State)`, `key(Input)`,
/// `step(State, Input, const Output*) -> optional<State>`, nullopt if that output is impossible
/// there; no output stands for any, of an open operation, and is never impossible.
template <class Model>
class Search {
 public:
  explicit Search(const Operations<Model>& operations) : operations_(operations) { link(); }

  /// Gives up (`undecided`) after so many steps.
  Verdict run(std::uint64_t steps_max) {
    std::uint32_t at = next_[head_];
    // What is open need not have happened: it is enough that all that was answered has its place.
    for (; closed_left_ > 0; --steps_max) {
      if (steps_max == 0) return {Verdict::Is::undecided, "too many orders to try"};
      if (is_call(at)) {
        at = take(at) ? next_[head_] : next_[at];
        continue;
      }
      note_obstacle(at);
      if (taken_.empty()) return {Verdict::Is::impossible, why()};
      at = next_[go_back()];
    }
    return {};
  }

 private:
  using State = typename Model::State;

  /// Which operations were taken, and where that led.
  struct Place {
    std::vector<std::uint64_t> set;
    State state;
    bool operator==(const Place&) const = default;
  };
  struct HashPlace {
    std::size_t operator()(const Place& place) const {
      std::uint64_t hash = Model::hash(place.state);
      for (const std::uint64_t word : place.set) {
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
      }
      return hash;
    }
  };
  struct Taken {
    std::uint32_t entry;
    State before;
  };

  // Entries 2i and 2i + 1 are call and answer of operation i, in a doubly linked list by position;
  // the head is behind them all. An open operation has no answer in the list.
  bool is_call(std::uint32_t entry) const { return entry % 2 == 0 && entry != head_; }

  void link() {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      order.push_back({operations_[i].call, static_cast<std::uint32_t>(2 * i)});
      if (!operations_[i].answer) continue;
      order.push_back({*operations_[i].answer, static_cast<std::uint32_t>(2 * i + 1)});
      closed_left_ += 1;
    }
    std::sort(order.begin(), order.end());
    head_ = static_cast<std::uint32_t>(2 * operations_.size());
    next_.resize(head_ + 1);
    previous_.resize(head_ + 1);
    std::uint32_t last = head_;
    for (const auto& [position, entry] : order) {
      next_[last] = entry;
      previous_[entry] = last;
      last = entry;
    }
    next_[last] = head_;
    previous_[head_] = last;
    place_.set.resize((operations_.size() + 63) / 64);
    place_.state = Model::start();
  }

  // False if it cannot be next, or has led to this place before.
  bool take(std::uint32_t entry) {
    const std::size_t index = entry / 2;
    const auto& operation = operations_[index];
    auto after =
        Model::step(place_.state, operation.input, operation.answer ? &operation.output : nullptr);
    if (!after) return false;
    if (!operation.answer && *after == place_.state) return false;  // As if it never happened.
    Place reached{place_.set, std::move(*after)};
    reached.set[index / 64] |= std::uint64_t{1} << (index % 64);
    if (!seen_.insert(reached).second) return false;
    taken_.push_back({entry, place_.state});
    place_ = std::move(reached);
    unlink(entry);
    if (operation.answer) {
      unlink(entry + 1);
      closed_left_ -= 1;
    }
    return true;
  }

  std::uint32_t go_back() {
    const std::uint32_t entry = taken_.back().entry;
    const std::size_t index = entry / 2;
    place_.state = std::move(taken_.back().before);
    place_.set[index / 64] &= ~(std::uint64_t{1} << (index % 64));
    taken_.pop_back();
    if (operations_[index].answer) {
      relink(entry + 1);
      closed_left_ += 1;
    }
    relink(entry);
    return entry;
  }

  void unlink(std::uint32_t entry) {
    next_[previous_[entry]] = next_[entry];
    previous_[next_[entry]] = previous_[entry];
  }
  void relink(std::uint32_t entry) {
    next_[previous_[entry]] = entry;
    previous_[next_[entry]] = entry;
  }

  void note_obstacle(std::uint32_t at) {
    if (obstacle_ && taken_.size() <= deepest_) return;
    deepest_ = taken_.size();
    obstacle_ = at == head_ ? 0 : at / 2;
  }
  std::string why() const {
    const auto& stuck = operations_[*obstacle_];
    return concat("after ", deepest_, " of ", operations_.size(),
                  " operations there is no place for that of client ", stuck.client, ", called at ",
                  stuck.call, " and answered at ", stuck.answer.value_or(0), ": ",
                  Model::text(stuck.input, stuck.output));
  }

  const Operations<Model>& operations_;
  std::uint32_t head_ = 0;
  std::vector<std::uint32_t> next_, previous_;
  std::size_t closed_left_ = 0;
  Place place_;
  std::vector<Taken> taken_;
  std::unordered_set<Place, HashPlace> seen_;
  std::size_t deepest_ = 0;
  std::optional<std::size_t> obstacle_;
};

/// Each key alone; the first key's verdict that is not `linearizable`.
template <class Model>
Verdict check(const Operations<Model>& operations, std::uint64_t steps_max = 50'000'000) {
  for (const auto& [key, part] : by_key<Model>(operations)) {
    Verdict verdict = Search<Model>(part).run(steps_max);
    if (verdict.is == Verdict::Is::linearizable) continue;
    verdict.why = concat("key ", key, ": ", verdict.why);
    return verdict;
  }
  return {};
}

}  // namespace piracema::linearizability
