#include "coll/mpi/windows.h"

#include <algorithm>
#include <utility>

#include "topology/trees/classic.h"

namespace piracema::coll::mpi {

namespace {

/// Tags have room for 4096 operations: rank 0 does not run further ahead of anybody, and nobody
/// runs ahead of rank 0 by more than two windows.
constexpr std::int32_t operations_ahead_max = 2'048;
constexpr std::uint32_t nonblocking_in_a_row_max = 512;
static_assert(operations_ahead_max + 2 * window_operations_max + nonblocking_in_a_row_max < 4'096);

double in_s(Time time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Windows::Windows(Exchange& exchange, GroupTrees& trees, Engine engine, ProbeThread* probes,
                 std::uint64_t number, std::vector<Rank> world_ranks)
    : exchange_(exchange),
      trees_(trees),
      engine_(engine),
      me_(exchange.me()),
      plan_(first_plan(engine, size())),
      plans_(exchange, probes, number, std::move(world_ranks)),
      departures_(exchange) {
  if (me_ != 0) return;
  planner_.emplace(engine, size());
  heard_operation_.assign(size(), 0);
}

Way Windows::begin_operation(Call call, std::uint64_t bytes, bool always_ours) {
  exchange_.begin_operation(operation_, nonblocking_in_a_row_ == 0 && ended_);
  ended_ = false;
  nonblocking_in_a_row_ = 0;
  operation_ += 1;
  if (!began_ || in_window_ == plan_.length) begin_window();
  in_window_ += 1;
  call_class_ = class_of(call, bytes);
  way_ = plan_.way(call_class_, calls_[call_class_]++);
  if (always_ours) way_ = Way::ours;
  return way_;
}

void Windows::end_operation(Time took) {
  ended_ = true;
  costs_.add(call_class_, way_, in_s(took));
}

std::optional<std::uint32_t> Windows::begin_nonblocking(std::uint64_t bytes) {
  if (engine_ == Engine::mst) return std::nullopt;
  // Nobody tells how far others are behind; tags must not be used again too soon.
  if (nonblocking_in_a_row_ == nonblocking_in_a_row_max) return std::nullopt;
  if (!plan_.ours[class_of(Call::ibroadcast, bytes)]) return std::nullopt;
  nonblocking_in_a_row_ += 1;
  way_ = Way::ours;
  return operation_++;
}

void Windows::begin_window() {
  if (began_) {
    Plan before = std::move(plan_);
    window_ += 1;
    if (me_ != 0) {
      under_way_.wait();
      exchange_.send_bytes(0, tag(0, Kind::told), costs_.encode(window_, operation_), under_way_);
      plan_ = receive_plan(window_).value_or(before);
    } else {
      const auto told = decode_told(costs_.encode(window_, operation_));
      hear(*told, 0);
      plan_ = next_plan_;
    }
    if (before.version > plan_.version) {
      // Trees that came since it was made.
      plan_.up = std::move(before.up);
      plan_.up_large = std::move(before.up_large);
      plan_.version = before.version;
    }
    up_.clear();
    costs_.clear();
    calls_ = {};
    in_window_ = 0;
  }
  began_ = true;
  if (me_ != 0) return;
  hear();
  plan_next_window();
}

void Windows::plan_next_window() {
  // The paper's engine has its own tree. Its windows are there so that no root runs too far ahead.
  if (engine_ != Engine::mst) look_at_links();
  next_plan_ = planner_->next(now());
  plans_.send(window_ + 1, next_plan_);
}

void Windows::look_at_links() {
  const std::uint64_t version = trees_.version();
  if (version == planned_version_ || now() - planned_at_ < 50 * planning_took_) return;
  const Time began = now();
  const LinkTable known = trees_.guessed_links();
  planner_->on_links(known, trees_.sites(known));
  planned_version_ = version;
  planned_at_ = now();
  planning_took_ = planned_at_ - began;
}

void Windows::tell_trees(Header& header) {
  if (me_ != 0 || engine_ == Engine::mst) return;
  look_at_links();
  const Plan& trees = planner_->trees();
  if (trees.version <= plan_.version) return;
  header.up_version = trees.version;
  header.up = trees.up;
  header.up_large = trees.up_large;
}

void Windows::take_trees(const Header& header) {
  if (header.up_version <= plan_.version) return;
  plan_.version = header.up_version;
  plan_.up = header.up;
  plan_.up_large = header.up_large;
  up_.clear();
}

std::optional<Plan> Windows::receive_plan(std::uint32_t window) {
  Patience patience = exchange_.patience();
  // What rank 0 has sent before it left is there first.
  for (bool left = false;;) {
    if (auto plan = plans_.take(window)) return plan;
    if (left && !plans_.came(window)) return std::nullopt;
    left = left || departures_.has_left(0);
    patience.wait();
  }
}

void Windows::hear() {
  while (hear_one()) {
  }
  // Others may be a window ahead of this rank.
  const auto far_behind = [&](Rank rank) {
    return static_cast<std::int32_t>(operation_ - heard_operation_[rank]) > operations_ahead_max;
  };
  Patience patience = exchange_.patience();
  for (Rank rank = 1; rank < size(); ++rank) {
    // Whoever has left will not catch up; that is the program's mistake, and no reason to wait.
    while (far_behind(rank) && !departures_.has_left(rank)) {
      if (!hear_one()) patience.wait();
    }
  }
}

bool Windows::hear_one() {
  Exchange::Arrived arrived;
  if (!exchange_.poll_bytes(no_rank, tag(0, Kind::told), arrived)) return false;
  const auto told = decode_told(arrived.bytes);
  if (!told) throw MpiError{MPI_ERR_OTHER};
  hear(*told, arrived.from);
  return true;
}

void Windows::hear(const Told& told, Rank from) {
  heard_operation_[from] = told.operation;
  if (from != 0) {
    heard_ += 1;
    // It asks for the plan of the window that it tells of.
    plans_.on_has(from, std::max(told.window, 1u) - 1);
  }
  planner_->on_told(told);
}

const Tree& Windows::up(Rank root, bool large) {
  const auto [found, is_new] = up_.try_emplace({root, large, way_});
  if (!is_new) return found->second;
  if (way_ == Way::theirs) return found->second = binomial_tree(size(), root);
  const Tree planned = to_tree(large ? plan_.up_large : plan_.up);
  std::vector<std::pair<Rank, Rank>> edges;
  for (Rank rank = 0; rank < size(); ++rank) {
    if (rank != planned.root) edges.emplace_back(planned.parent[rank], rank);
  }
  return found->second = hang(size(), root, edges);
}

void Windows::drain(Time until, bool at_the_end) {
  if (!began_ && !at_the_end) return;
  // What strays now harms nobody.
  exchange_.begin_operation(operation_, false);
  Patience patience = exchange_.patience();
  // Everybody tells of each window that it has begun, but the first.
  const auto all_heard = [&] { return heard_ >= std::uint64_t{window_} * (size() - 1); };
  const auto all_sent = [&] { return under_way_.test() && departures_.all_sent(); };
  bool through = false;
  while (!through && now() < until) {
    if (!began_) {
      through = all_sent();
    } else if (me_ == 0) {
      while (hear_one()) {
      }
      through = all_heard() && plans_.all_sent() && all_sent();
    } else {
      through = plans_.all_came_up_to(window_ + 1) && all_sent();
    }
    if (at_the_end) through = departures_.all_have_left() && through;
    if (!through) patience.wait();
  }
}

}  // namespace piracema::coll::mpi
