#include "cluster/driver/program_check.h"

#include <piracema/graph.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "control/messages/control.h"
#include "flow/states.h"
#include "state/program_change.h"
#include "state/redistribution.h"

namespace piracema::cluster {

namespace {

// A snapshot of a version before there were key groups: of the same program, but its keys lie where
// another hash has put them. Nothing if it is none.
std::optional<Result<Done>> check_old_routes(const Beginning& beginning, const std::string& graph) {
  const store::Manifest& newest = *beginning.newest;
  const auto shape = runtime::decode_shape(graph);
  auto old = runtime::decode_old_shape(newest.job);
  if (!shape || !old || old->edges.size() != shape->edges.size()) return std::nullopt;
  for (std::size_t i = 0; i < old->edges.size(); ++i) {
    if (old->edges[i].delivery != shape->edges[i].delivery) return std::nullopt;
    old->edges[i].key_groups = shape->edges[i].key_groups;
  }
  if (runtime::encode_shape(*old) != graph) return std::nullopt;
  if (!beginning.resume) return Done{};
  for (const EdgeShape& edge : shape->edges) {
    const NodeShape& node = shape->nodes[edge.to];
    const auto layout = newest.layouts.find(node.name);
    const bool has_state = layout == newest.layouts.end() || layout->second != "nothing";
    if (edge.delivery != Delivery::by_key || node.replicas / edge.parts == 1 || !has_state)
      continue;
    return Error{Errc::config,
                 concat(beginning.store->name(), ": snapshot ", newest.snapshot,
                        " was taken by a version that shared out keys in another way: the ",
                        node.replicas, " replicas of operator '", node.name,
                        "' would not get the keys whose state they have; end that run with the "
                        "version that began it")};
  }
  return Done{};
}

// A job that was scaled while it ran begins with its program's numbers again.
void tell_changed(const GraphShape& before, const GraphShape& now) {
  for (std::size_t i = 0; i < now.nodes.size(); ++i) {
    const std::uint32_t had = before.nodes[i].replicas, has = now.nodes[i].replicas;
    if (had == has) continue;
    log(Level::info, concat("operator '", now.nodes[i].name, "' had ", had,
                            " replicas when it was stopped, and has ", has, " now"));
  }
}

// A snapshot of the same program with other numbers of replicas. Nothing if it is none.
std::optional<Result<Done>> check_numbers(const Beginning& beginning, const std::string& graph) {
  const store::Manifest& newest = *beginning.newest;
  const auto before = runtime::decode_shape(newest.job);
  const auto now = runtime::decode_shape(graph);
  if (!before || !now) return std::nullopt;
  const auto different = state::compare(*before, *now, newest.layouts);
  if (different.another_program) return std::nullopt;
  if (!beginning.resume) return Done{};
  if (different.why.empty()) {
    tell_changed(*before, *now);
    return Done{};
  }
  return Error{Errc::config, concat(beginning.store->name(), ": in snapshot ", newest.snapshot, " ",
                                    different.why)};
}

void tell_change(const store::Manifest& newest, const state::ProgramChange& change) {
  std::string all = concat("snapshot ", newest.snapshot, " is of another version of the program");
  const auto list = [&all](const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    all += what;
    for (std::size_t i = 0; i < names.size(); ++i)
      all += concat(i == 0 ? "'" : ", '", names[i], "'");
  };
  list("; goes on: ", change.kept);
  list("; new, without a state: ", change.added);
  list("; gone: ", change.dropped);
  log(Level::warning, all);
}

// A snapshot of another version of the program, with other operators.
Result<Done> check_program(const Beginning& beginning, const std::string& graph,
                           const MayDiffer& may_differ) {
  const store::Manifest& newest = *beginning.newest;
  const std::string& path = beginning.store->name();
  const auto before = runtime::decode_shape(newest.job);
  const auto now = runtime::decode_shape(graph);
  if (!beginning.resume || !may_differ.program || !before || !now) {
    const bool may = beginning.resume && before && now;
    return Error{Errc::config,
                 concat(path, " holds snapshots of another program: want ", outline(graph),
                        ", found ", outline(newest.job),
                        may ? "; --allow-changed-program goes on with the operators that have the "
                              "same names"
                            : "")};
  }
  const auto refuse = [&](const std::string& why) {
    return Error{Errc::config, concat(path, ": snapshot ", newest.snapshot, ": ", why)};
  };
  if (newest.finished) return refuse("its job had ended: there is nothing to go on with");
  if (newest.nodes.empty()) {
    return refuse(
        "its format does not say which state is of which operator: go on once with the "
        "version of the program that took it");
  }
  const auto change = state::change_program(*before, *now, newest.layouts, may_differ.dropped);
  if (!change.why.empty()) return refuse(change.why);
  const auto running = state::check_not_ended(*beginning.store, newest, change.rewired);
  if (!running && running.error().code == Errc::config) return refuse(running.error().message);
  if (!running) return running;
  tell_change(newest, change);
  return Done{};
}

// The layouts fit the graph that both have, or the operators that both have.
Result<Done> check_states(const Beginning& beginning, const std::string& graph,
                          const flow::StateTypes& types, bool allow_changed) {
  const auto shape = runtime::decode_shape(graph);
  if (!shape) return as_config(shape.error());
  if (auto checked = flow::check_types(*shape, types); !checked) return checked;
  const auto& [layouts, former] = types;
  // What was copied as it is in memory is told by its size alone.
  for (std::size_t node = 0; node < std::min(former.size(), layouts.size()); ++node) {
    std::vector<std::string> all = former[node];
    all.push_back(layouts[node]);
    std::sort(all.begin(), all.end());
    const auto twice = std::adjacent_find(all.begin(), all.end());
    if (twice == all.end()) continue;
    return Error{Errc::config, concat("the state of operator '", shape->nodes[node].name,
                                      "' and one that it was made of are both ", *twice,
                                      ": nobody can tell which of them a snapshot has; let them "
                                      "differ in what they are made of, or in size")};
  }
  const store::Manifest& newest = *beginning.newest;
  const auto want = flow::layouts_by_node(*shape, layouts);
  if (newest.layouts.empty() && !want.empty()) {
    log(Level::warning, concat(beginning.store->name(), ": snapshot ", newest.snapshot,
                               " does not say of which types its states are: it is of version 1 of "
                               "the format, and whoever changed them has to know"));
  }
  auto changed = flow::changed_states(want, newest.layouts);
  std::erase_if(changed, [&, &former = former](const flow::ChangedState& state) {
    for (std::size_t node = 0; node < former.size(); ++node) {
      if (shape->nodes[node].name != state.node) continue;
      const auto& known = former[node];
      if (std::find(known.begin(), known.end(), state.found) == known.end()) continue;
      log(Level::warning,
          concat("the state of operator '", state.node, "' was ", state.found, " in snapshot ",
                 newest.snapshot, ", and is made into ", state.want));
      return true;
    }
    return false;
  });
  if (changed.empty()) return Done{};
  std::string all = concat(beginning.store->name(), ": in snapshot ", newest.snapshot);
  for (std::size_t i = 0; i < changed.size(); ++i)
    all += (i == 0 ? " " : "; ") + text_of(changed[i]);
  if (!allow_changed) {
    return Error{Errc::config, all + "; --allow-changed-state goes on all the same"};
  }
  log(Level::warning, all);
  return Done{};
}

}  // namespace

Result<Done> accept_job(const Beginning& beginning, const std::string& graph,
                        const flow::StateTypes& types, const MayDiffer& may_differ) {
  if (beginning.newest && beginning.newest->job != graph) {
    const auto old = check_old_routes(beginning, graph);
    if (old && !*old) return *old;
    const auto numbers = old ? std::nullopt : check_numbers(beginning, graph);
    if (numbers && !*numbers) return *numbers;
    if (!old && !numbers) {
      const auto change = check_program(beginning, graph, may_differ);
      if (!change) return change;
    }
    if (!old && beginning.resume) {
      const auto whole = state::check_nothing_under_way(*beginning.store, *beginning.newest);
      if (!whole && whole.error().code == Errc::config) {
        return Error{Errc::config, concat(beginning.store->name(), ": ", whole.error().message)};
      }
      if (!whole) return whole;
    }
  }
  if (beginning.resume) {
    auto fit = check_states(beginning, graph, types, may_differ.states);
    if (!fit || beginning.taken_over) return fit;
    // From here on they are the job's again, and go in their turn.
    auto ours = beginning.store->reclaim(beginning.found);
    if (!ours) return as_config(ours.error());
  }
  for (const SnapshotId snapshot : beginning.resume ? beginning.discarded : beginning.found) {
    if (auto dropped = beginning.store->drop(snapshot); !dropped) {
      return as_config(dropped.error());
    }
  }
  return Done{};
}

Replicas kept_replicas(const Beginning& beginning, const std::string& graph) {
  if (!beginning.newest || !beginning.resume) return {};
  const auto before = runtime::decode_shape(beginning.newest->job);
  const auto program = runtime::decode_shape(graph);
  if (!before || !program) return {};
  Replicas kept;
  for (const NodeShape& node : program->nodes) {
    for (const NodeShape& same : before->nodes) {
      if (same.name == node.name && same.replicas != node.replicas) {
        kept.emplace_back(node.name, same.replicas);
      }
    }
  }
  const auto next = runtime::decode_shape(with_replicas(graph, kept));
  const auto& layouts = beginning.newest->layouts;
  return next && state::compare(*program, *next, layouts).why.empty() ? kept : Replicas{};
}

std::string with_replicas(const std::string& graph, const Replicas& replicas) {
  auto shape = runtime::decode_shape(graph);
  if (!shape || replicas.empty()) return graph;
  for (const auto& [name, count] : replicas) {
    for (NodeShape& node : shape->nodes) {
      if (node.name == name) node.replicas = count;
    }
  }
  return runtime::encode_shape(*shape);
}

Result<Done> accept_unsaved(const std::vector<std::string>& unsaved, bool strict) {
  for (const std::string& sentence : unsaved) log(Level::warning, sentence);
  if (!strict || unsaved.empty()) return Done{};
  return Error{Errc::config, concat("strict: want a program all of whose state is saved, found ",
                                    unsaved.size(), " that is not")};
}

std::string outline(const std::string& graph) {
  auto shape = runtime::decode_shape(graph);
  if (!shape) shape = runtime::decode_old_shape(graph);
  if (!shape) return "an unknown graph";
  std::string text;
  for (const NodeShape& node : shape->nodes) {
    if (!text.empty()) text += " > ";
    text += node.name;
    if (node.replicas > 1) text += concat(" x", node.replicas);
    if (node.ordered) text += " (ordered)";
  }
  return text;
}

}  // namespace piracema::cluster
