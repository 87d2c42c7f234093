#include "coll/plan/planner.h"

#include <algorithm>

#include "topology/trees/classic.h"
#include "topology/trees/segments.h"

namespace piracema::coll {

namespace {

constexpr std::uint32_t first_lengths[] = {2, 2, 4, 8};
constexpr std::uint32_t length_least = 16;

/// No message takes three times as long over one link as over another.
bool uniform(const Costs& costs) {
  double least = costs.cost(1, 0).delay, most = least;
  for (Rank a = 0; a < costs.size(); ++a) {
    for (Rank b = 0; b < costs.size(); ++b) {
      if (a == b) continue;
      least = std::min(least, costs.cost(a, b).delay);
      most = std::max(most, costs.cost(a, b).delay);
    }
  }
  return most <= 3 * least;
}

}  // namespace

Expected expected_of(const LinkTable& links, double bytes) {
  const TableCosts costs(links, send_overhead, bytes);
  Expected expected;
  if (bytes > static_cast<double>(small_bytes_max)) {
    const SegmentCosts segments(links, send_overhead, bytes);
    expected.ours = completion_in_segments(segment_tree(segments, 0), segments);
    expected.theirs = completion_in_segments(binomial_tree(links.size(), 0), segments);
  } else {
    expected.ours = completion(tree_for(Engine::tree, links, 0, bytes, {}), costs);
    expected.theirs = completion(binomial_tree(links.size(), 0), costs);
  }
  const double gain = expected.theirs - expected.ours;
  expected.ours_pay = !uniform(costs) && gain > std::max(50e-6, expected.theirs / 10);
  return expected;
}

Planner::Planner(Engine engine, Rank size)
    : engine_(engine), plan_(first_plan(engine, size)), costs_(size) {}

void Planner::on_links(const LinkTable& links, const std::vector<std::uint32_t>& site_of) {
  Plan made = make_plan(engine_, links, site_of);
  const bool same = made.up == plan_.up && made.up_large == plan_.up_large;
  made.version = plan_.version + (same ? 0 : 1);
  plan_ = std::move(made);
  if (is_forced(engine_)) return;
  for (unsigned size = 0; size < call_sizes; ++size) {
    const Expected expected = expected_of(links, typical_bytes[size]);
    for (unsigned kind = 0; kind < call_kinds; ++kind) {
      choices_[kind * call_sizes + size].expect(expected);
    }
  }
}

void Planner::on_told(const Told& told) {
  const auto costs = costs_.on_told(told);
  if (!costs) return;
  for (const auto& [call_class, ways] : *costs) {
    choices_[call_class].on_window(ways[1], ways[0]);
    for (const Way way : {Way::theirs, Way::ours}) {
      const auto& cost = ways[static_cast<std::size_t>(way)];
      if (cost) spent_.add(call_class, way, cost->seconds * cost->calls, cost->calls);
    }
  }
}

Plan Planner::next(Time now) {
  plan_.length = next_length(now);
  if (is_forced(engine_)) return plan_;
  for (unsigned call_class = 0; call_class < call_classes; ++call_class) {
    plan_.ours[call_class] = choices_[call_class].way() == Way::ours;
    plan_.trial[call_class] = choices_[call_class].try_other();
  }
  return plan_;
}

std::uint32_t Planner::next_length(Time now) {
  // There is nothing to learn from a window of it.
  if (engine_ == Engine::mst) return window_operations_max;
  // The one that begins now was told its length a window ago.
  const std::uint32_t over = length_;
  const Time took = now - began_;
  began_ = now;
  length_ = next_length_;
  windows_ += 1;
  if (windows_ < std::size(first_lengths)) return next_length_ = first_lengths[windows_];
  const double in_time = over * static_cast<double>(Time(window_takes).count()) /
                         static_cast<double>(std::max(took.count(), Time::rep{1}));
  // By twice at most: programs begin slowly.
  const double most = std::min(2.0 * length_, double{window_operations_max});
  next_length_ = static_cast<std::uint32_t>(
      std::clamp(in_time, double{length_least}, std::max(most, double{length_least})));
  return next_length_;
}

}  // namespace piracema::coll
