#include "control/scale_request.h"

#include <algorithm>

#include "base/text.h"
#include "control/messages/control.h"
#include "flow/placement.h"
#include "state/redistribution.h"

namespace piracema::cluster {

namespace {

Error cannot(const std::string& why) { return {Errc::config, why}; }

std::string operators_of(const GraphShape& shape) {
  std::string names;
  for (const NodeShape& node : shape.nodes) {
    names += concat(names.empty() ? "" : ", ", node.name, " (", node.replicas, ")");
  }
  return names;
}

Result<Done> set_replicas(GraphShape& shape, const ScaleRequest& request) {
  for (const auto& [name, replicas] : request.replicas) {
    const auto node =
        std::find_if(shape.nodes.begin(), shape.nodes.end(),
                     [&name = name](const NodeShape& one) { return one.name == name; });
    if (node == shape.nodes.end()) {
      return cannot(concat("there is no operator '", name, "'; operators and their replicas are ",
                           operators_of(shape)));
    }
    if (replicas == 0)
      return cannot(concat("operator '", name, "': want at least 1 replica, found 0"));
    node->replicas = replicas;
  }
  return Done{};
}

Result<std::uint32_t> check_slots(const JobSettings& settings, const ScaleRequest& request) {
  const std::uint32_t slots = request.slots.value_or(settings.slots);
  if (slots == settings.slots) return slots;
  if (slots == 0 || slots > slots_max) {
    return cannot(concat("want 1 to ", slots_max, " workers, found ", slots));
  }
  if (settings.workers_come)
    return cannot("mpirun has started the workers, and no others can come");
  if (!settings.can_spawn)
    return cannot("the job is a single process, which cannot become several");
  return slots;
}

}  // namespace

std::string text_of_change(const GraphShape& before, std::uint32_t slots_before,
                           const GraphShape& after, std::uint32_t slots_after) {
  std::string text;
  const auto add = [&text](const std::string& what) {
    text += concat(text.empty() ? "" : ", ", what);
  };
  for (std::size_t i = 0; i < before.nodes.size(); ++i) {
    const std::uint32_t was = before.nodes[i].replicas, is = after.nodes[i].replicas;
    if (was != is) add(concat(after.nodes[i].name, ": ", was, " -> ", is, " replicas"));
  }
  if (slots_before != slots_after) add(concat(slots_before, " -> ", slots_after, " workers"));
  return text;
}

Result<std::optional<ScaleBegun>> plan_scale(const Job& job, const JobSettings& settings,
                                             const ScaleRequest& request) {
  if (!settings.snapshots) {
    return cannot(
        "the job takes no snapshots, and it is from one that a job goes on with other numbers: "
        "start it with --snapshots DIR");
  }
  if (!settings.placement.empty()) {
    return cannot("its groups say where each replica runs: stop it, and go on with other groups");
  }
  GraphShape next = job.shape;
  if (auto set = set_replicas(next, request); !set) return set.error();
  auto slots = check_slots(settings, request);
  if (!slots) return slots.error();
  const bool same = text_of_change(job.shape, settings.slots, next, *slots).empty();
  if (same) return std::optional<ScaleBegun>();
  if (auto valid = validate(next); !valid) return cannot(valid.error().message);
  const auto difference = state::compare(job.shape, next, job.layouts_by_node());
  if (!difference.why.empty()) return cannot(difference.why);
  const flow::Plan plan = flow::make_plan(next);
  const auto known = flow::known_of(next, settings.earlier, settings.locations);
  if (!known) return cannot(known.error().message);
  return std::optional(ScaleBegun{
      runtime::encode_shape(next),
      flow::place_again({job.shape, job.plan, job.placement}, next, plan, *slots, *known), *slots});
}

}  // namespace piracema::cluster
