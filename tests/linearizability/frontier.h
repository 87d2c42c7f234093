#pragma once

#include <bit>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "linearizability/possible_worlds.h"

namespace piracema::linearizability {

/// Decides for one key whether what clients saw was possible, while the history goes by: nothing of
/// it is kept but what is under way and the worlds that it may have led to.
///
/// The search of Wing and Gong ("Testing and verifying concurrent objects", 1993) over orders of
/// operations, with the memory of Lowe ("Testing for linearizability", 2017: the same set of
/// operations that led to the same state is not tried again), done for one answer after the other
/// ("just in time" in Lowe): at an answer all worlds are followed up to those in which it has been
/// given; a history with an answer that is in none is not linearizable. Each key has its own
/// (Herlihy and Wing 1990, theorem 1; Horn and Kroening, "Faster linearizability checking via
/// P-compositionality", 2015, on which Porcupine stands).
///
/// A model is that of `Search`, and holds to this: where an answered operation is possible with
/// and without an open one right before it, the open one may as well come after it or not at all.
/// So open operations are tried only where something under way is impossible without.
template <class Model>
class Frontier {
 public:
  using State = typename Model::State;
  using Input = typename Model::Input;
  using Output = typename Model::Output;
  enum class Is { possible, impossible, undecided };

  /// As many may be under way at a time.
  static constexpr std::size_t live_max = 64;
  /// Gives up above so many worlds.
  static constexpr std::size_t worlds_max = 1'000'000;

  Frontier() : worlds_{{Model::start(), 0, {}}} {}

  /// Somebody asks, and will be told `output`. In the order of time, as `answered`. The number is
  /// that of no other operation under way. False if too many are.
  bool called(std::uint32_t number, const Input& input, const Output& output) {
    const auto slot = static_cast<std::size_t>(std::countr_one(live_set_));
    if (slot == live_max) return false;
    live_set_ |= bit(slot);
    live_[slot] = {number, input, output};
    return true;
  }
  /// Somebody asks, and will never be told: it may happen from now on, or never.
  void called_in_vain(const Input& input) {
    open_.push_back({next_open_++, input});
    if (open_.size() >= tidy_at_) tidy();
  }

  /// The answer of an operation that was `called`. Nothing more may follow unless it is possible.
  Is answered(std::uint32_t number) {
    const std::size_t slot = slot_of(number);
    Worlds after, tried;
    std::deque<One> todo;
    for (const One& world : worlds_) {
      if ((world.taken & bit(slot)) != 0) {
        after.add({world.state, world.taken & ~bit(slot), world.spent});
      } else if (tried.add(world)) {
        todo.push_back(world);
      }
    }
    while (!todo.empty()) {
      if (tried.count() > worlds_max) return Is::undecided;
      One world = std::move(todo.front());
      todo.pop_front();
      follow(std::move(world), slot, after, tried, todo);
    }
    worlds_ = after.all();
    live_set_ &= ~bit(slot);
    if (worlds_.empty()) return Is::impossible;
    forget_what_happened();
    return Is::possible;
  }

  bool is_idle() const { return live_set_ == 0; }
  /// What the key may hold now; of meaning while nothing is under way.
  std::vector<State> states() const {
    std::vector<State> states;
    for (const One& world : worlds_) {
      if (std::find(states.begin(), states.end(), world.state) == states.end()) {
        states.push_back(world.state);
      }
    }
    return states;
  }
  /// Operations that may still happen and will never be answered.
  std::size_t open_count() const { return open_.size(); }
  std::size_t world_count() const { return worlds_.size(); }

 private:
  using One = World<State>;
  using Worlds = PossibleWorlds<Model>;
  struct Live {
    std::uint32_t number = 0;
    Input input{};
    Output output{};
  };
  struct Open {
    std::uint32_t number = 0;
    Input input{};
  };

  static constexpr std::uint64_t bit(std::size_t slot) { return std::uint64_t{1} << slot; }
  std::size_t slot_of(std::uint32_t number) const {
    for (std::size_t slot = 0; slot < live_max; ++slot) {
      if ((live_set_ & bit(slot)) != 0 && live_[slot].number == number) return slot;
    }
    ENSURE(false);
    return 0;
  }

  // What can come next in this world, until the operation at `wanted` has. Worlds that spend
  // nothing come first, so that most of those that spend more are never looked at.
  void follow(One world, std::size_t wanted, Worlds& after, Worlds& tried,
              std::deque<One>& todo) const {
    if (take_what_changes_nothing(world, wanted)) {
      after.add({world.state, world.taken & ~bit(wanted), world.spent});
      return;
    }
    bool is_something_impossible = false;
    for (std::uint64_t left = live_set_ & ~world.taken; left != 0; left &= left - 1) {
      const auto slot = static_cast<std::size_t>(std::countr_zero(left));
      auto state = Model::step(world.state, live_[slot].input, &live_[slot].output);
      if (!state) {
        is_something_impossible = true;
      } else if (slot == wanted) {
        after.add({*std::move(state), world.taken, world.spent});
      } else {
        One next{*std::move(state), world.taken | bit(slot), world.spent};
        if (tried.add(next)) todo.push_front(std::move(next));
      }
    }
    if (is_something_impossible) follow_open(world, tried, todo);
  }

  // What is right here and changes nothing, as a read, is best done at once: no order in which it
  // comes later allows more. Whether the wanted one was among them.
  bool take_what_changes_nothing(One& world, std::size_t wanted) const {
    for (std::uint64_t left = live_set_ & ~world.taken; left != 0; left &= left - 1) {
      const auto slot = static_cast<std::size_t>(std::countr_zero(left));
      const auto state = Model::step(world.state, live_[slot].input, &live_[slot].output);
      if (state && *state == world.state) world.taken |= bit(slot);
    }
    return (world.taken & bit(wanted)) != 0;
  }

  // What will never be answered, where it makes something possible that was not: an operation that
  // is under way, or another open one.
  void follow_open(const One& world, Worlds& tried, std::deque<One>& todo) const {
    const auto is_spent = [&](const Open& open) {
      return std::binary_search(world.spent.begin(), world.spent.end(), open.number);
    };
    const auto changes = [](const State& state, const Open& open) {
      const auto after = Model::step(state, open.input, nullptr);
      return after && *after != state;
    };
    std::vector<const Open*> idle;
    for (const Open& open : open_) {
      if (!is_spent(open) && !changes(world.state, open)) idle.push_back(&open);
    }
    std::vector<const Input*> seen;
    for (const Open& open : open_) {
      if (is_spent(open) || !changes(world.state, open)) continue;
      // Of two that do the same, either may be the one.
      const bool is_another = std::any_of(seen.begin(), seen.end(),
                                          [&](const Input* one) { return *one == open.input; });
      if (is_another) continue;
      if (Model::writes(open.input) == State{}) seen.push_back(&open.input);
      const State state = *Model::step(world.state, open.input, nullptr);
      const bool is_of_use = makes_possible(world, state) ||
                             std::any_of(idle.begin(), idle.end(),
                                         [&](auto* other) { return changes(state, *other); });
      if (!is_of_use) continue;
      One next{state, world.taken, world.spent};
      next.spent.insert(std::lower_bound(next.spent.begin(), next.spent.end(), open.number),
                        open.number);
      if (tried.add(next)) todo.push_back(std::move(next));
    }
  }
  bool makes_possible(const One& world, const State& state) const {
    for (std::uint64_t left = live_set_ & ~world.taken; left != 0; left &= left - 1) {
      const Live& live = live_[std::countr_zero(left)];
      if (!Model::step(world.state, live.input, &live.output) &&
          Model::step(state, live.input, &live.output)) {
        return true;
      }
    }
    return false;
  }

  // What has happened in every world is history.
  void forget_what_happened() {
    std::vector<std::uint32_t> everywhere = worlds_.front().spent;
    for (const One& world : worlds_) {
      std::erase_if(everywhere, [&](std::uint32_t number) {
        return !std::binary_search(world.spent.begin(), world.spent.end(), number);
      });
    }
    for (const std::uint32_t number : everywhere) forget(number);
  }
  void forget(std::uint32_t number) {
    std::erase_if(open_, [&](const Open& open) { return open.number == number; });
    for (One& world : worlds_) std::erase(world.spent, number);
  }

  // What waits for a value that is nowhere and that nobody may still write can never happen: its
  // only writer was called before it.
  void tidy() {
    if constexpr (requires(const Input& input) { Model::wants(input); }) {
      const std::vector<Open> all = open_;
      for (const Open& open : all) {
        const auto wanted = Model::wants(open.input);
        if (wanted && !can_come(*wanted, all)) forget(open.number);
      }
    }
    tidy_at_ = open_.size() + 16;
  }
  bool can_come(const State& wanted, const std::vector<Open>& open) const {
    for (const One& world : worlds_) {
      if (world.state == wanted) return true;
    }
    for (const Open& one : open) {
      if (Model::writes(one.input) == wanted) return true;
    }
    for (std::size_t slot = 0; slot < live_max; ++slot) {
      const bool is_live = (live_set_ & bit(slot)) != 0;
      if (is_live && Model::writes(live_[slot].input) == wanted) return true;
    }
    return false;
  }

  std::vector<One> worlds_;
  std::uint64_t live_set_ = 0;
  Live live_[live_max] = {};
  std::vector<Open> open_;
  std::uint32_t next_open_ = 0;
  std::size_t tidy_at_ = 16;
};

}  // namespace piracema::linearizability
