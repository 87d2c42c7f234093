#include "cluster/driver/snapshots.h"

#include <piracema/graph.h>

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "base/text.h"
#include "control/messages/control.h"
#include "flow/states.h"
#include "state/program_change.h"
#include "state/redistribution.h"
#include "store/open_store.h"
#include "store/snapshot/directory_store.h"

namespace piracema::cluster {

namespace {

// Whatever is wrong with the directory, it is the user's choice of one that has to change.
Error as_config(const Error& error) { return {Errc::config, error.message}; }

Result<Done> check_resume(const Beginning& beginning, const std::vector<Error>& damaged) {
  if (beginning.newest) return Done{};
  const std::string& path = beginning.store->name();
  if (damaged.empty()) {
    return Error{Errc::config, concat("nothing to resume: ", path, " has no snapshot")};
  }
  return Error{Errc::lost, concat("nothing to resume: of the ", damaged.size(), " snapshots in ",
                                  path, " none is intact: ", damaged.front().message)};
}

Result<Done> check_start(const Beginning& beginning) {
  const std::string& path = beginning.store->name();
  if (beginning.found.empty()) return Done{};
  if (!beginning.newest) {
    return Error{Errc::config, concat(path, " has ", beginning.found.size(),
                                      " snapshots, none of them intact: give another directory")};
  }
  if (beginning.newest->finished) return Done{};
  return Error{Errc::config, concat(path, " has snapshot ", beginning.newest->snapshot,
                                    " of a run that has not ended: give --resume to go on from "
                                    "it, or another directory")};
}

// The job of a coordinator that was lost, if it may be gone on with. What is too old for any of its
// workers to be left is removed: what its snapshots say is all that counts then.
Result<std::optional<JobRecord::Found>> find_left(const Beginning& beginning, Start start,
                                                  std::optional<std::uint32_t> slots) {
  using Nothing = std::optional<JobRecord::Found>;
  // Where no files can be nobody could leave anything.
  if (beginning.store->directory() == nullptr) return Nothing{};
  const std::string& path = *beginning.store->directory();
  auto found = JobRecord::find(path);
  if (!found) return as_config(found.error());
  if (!*found) return Nothing{};
  const JobRecord::Found& left = **found;
  const auto now = std::chrono::system_clock::now();
  if (left.is_over(now) && start != Start::standby) {
    if (auto removed = JobRecord::remove(path); !removed) return as_config(removed.error());
    return Nothing{};
  }
  const auto may_run_for =
      std::chrono::ceil<std::chrono::seconds>(left.keep - (now - left.seen)).count();
  const std::string lost =
      concat(path, " has a job whose coordinator was lost and whose workers may still run, for ",
             std::max<std::int64_t>(may_run_for, 1), " s: ");
  if (start == Start::anew) {
    return Error{Errc::config, lost + "give --resume to go on with them, or another directory"};
  }
  if (!left.metadata) {
    return Error{Errc::config,
                 lost + "what it decided is not written down there; wait for them to end"};
  }
  if (!slots) {
    return Error{Errc::config,
                 lost + "piracema run --resume goes on with them; else wait for them to end"};
  }
  if (!beginning.found.empty() && !left.metadata->snapshots.knows(beginning.found.back())) {
    return Error{Errc::config, concat(lost, "what it wrote down does not know snapshot ",
                                      beginning.found.back(), "; wait for them to end")};
  }
  // It may have been scaled since the standby was started, or since the command was written.
  const std::uint32_t has = left.metadata->slots_wanted();
  if (has != *slots) {
    log(Level::warning, concat(path, ": goes on with the ", has, " workers that the job has; -n ",
                               *slots, " is for one that begins"));
  }
  return std::move(*found);
}

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
                          const std::vector<std::string>& layouts, bool allow_changed) {
  const auto shape = runtime::decode_shape(graph);
  if (!shape) return as_config(shape.error());
  if (auto checked = flow::check_layouts(*shape, layouts); !checked) return checked;
  const store::Manifest& newest = *beginning.newest;
  const auto want = flow::layouts_by_node(*shape, layouts);
  if (newest.layouts.empty() && !want.empty()) {
    log(Level::warning, concat(beginning.store->name(), ": snapshot ", newest.snapshot,
                               " does not say of which types its states are: it is of version 1 of "
                               "the format, and whoever changed them has to know"));
  }
  const auto changed = flow::changed_states(want, newest.layouts);
  if (changed.empty()) return Done{};
  std::string all = concat(beginning.store->name(), ": in snapshot ", newest.snapshot);
  for (std::size_t i = 0; i < changed.size(); ++i) all += (i == 0 ? " " : "; ") + changed[i];
  if (!allow_changed) {
    return Error{Errc::config, all + "; --allow-changed-state goes on all the same"};
  }
  log(Level::warning, all);
  return Done{};
}

// The newest snapshot that is intact; what is damaged and newer is said, and given back.
Result<std::vector<Error>> find_newest(Beginning& beginning) {
  std::vector<Error> damaged;
  auto newest = store::newest_intact(*beginning.store, damaged);
  if (!newest) return as_config(newest.error());
  beginning.newest = *std::move(newest);
  if (beginning.newest) {
    for (const Error& error : damaged) {
      log(Level::warning,
          concat(error.message, "; snapshot ", beginning.newest->snapshot, " before it is used"));
    }
  }
  return damaged;
}

// What a sink has written after the savepoint it cuts off when it goes on from there. A snapshot
// that is newer then says more than its outputs have, or other bytes: nobody can go on from it.
Result<Done> find_savepoint(Beginning& beginning, const From& from) {
  store::SnapshotStore& store = *beginning.store;
  const std::string& path = beginning.store->name();
  const auto savepoints = store.savepoints();
  if (!savepoints) return as_config(savepoints.error());
  const auto wanted = store::find_savepoint(*savepoints, from.savepoint, path);
  if (!wanted) return as_config(wanted.error());
  for (const auto& [name, snapshot] : *savepoints) {
    if (snapshot <= *wanted) continue;
    return Error{Errc::config,
                 concat(path, ": savepoint '", name, "' is newer than '", from.savepoint,
                        "', and what sinks write from there on is not what it goes on from: delete "
                        "it first, or go on in a copy of the directory and of the outputs")};
  }
  std::string newer;
  for (const SnapshotId id : beginning.found) {
    if (id <= *wanted) continue;
    beginning.discarded.push_back(id);
    newer += concat(newer.empty() ? "" : ", ", id);
  }
  if (!newer.empty() && !from.discard_newer) {
    return Error{Errc::config, concat(path, ": newer than savepoint '", from.savepoint,
                                      "' (snapshot ", *wanted, ") are snapshots ", newer,
                                      "; --discard-newer removes them and goes back all the same")};
  }
  auto manifest = store::verify(store, *wanted);
  if (!manifest && manifest.error().code == Errc::timeout) return as_config(manifest.error());
  if (!manifest) {
    return Error{Errc::lost,
                 concat("savepoint '", from.savepoint, "': ", manifest.error().message)};
  }
  beginning.newest = *std::move(manifest);
  return Done{};
}

// A new run writes other outputs than those that its savepoints go on from.
Result<Done> check_no_savepoints(const Beginning& beginning) {
  const auto savepoints = beginning.store->savepoints();
  if (!savepoints) return as_config(savepoints.error());
  if (savepoints->empty()) return Done{};
  return Error{Errc::config,
               concat(beginning.store->name(), " has savepoint '", savepoints->begin()->first,
                      "' of the run before: delete it, or give another directory")};
}

}  // namespace

Result<Beginning> begin_in(
    const std::string& snapshots, Start start, std::optional<std::uint32_t> slots,
    const std::function<Result<Fd>(const std::string& lock_path, const std::string& why)>& wait,
    const From& from) {
  if (!from.savepoint.empty() && start != Start::resume) {
    return Error{Errc::config, concat("only a job that is resumed goes on from savepoint '",
                                      from.savepoint, "'")};
  }
  auto store = store::open_store(snapshots, start == Start::anew);
  if (!store) return as_config(store.error());
  Beginning beginning;
  beginning.store = *std::move(store);
  beginning.resume = start != Start::anew;
  const std::string* const directory = beginning.store->directory();
  if (start == Start::standby && directory == nullptr) {
    return Error{Errc::config, concat("a standby wants snapshots in a directory, found ",
                                      beginning.store->name())};
  }

  auto lock = beginning.store->lock();
  const bool waited =
      !lock && start == Start::standby && lock.error().code == Errc::refused && wait;
  if (waited) {
    auto file = wait(store::DirectoryStore::lock_path_in(*directory), lock.error().message);
    if (!file) return file.error();
    lock = store::DirectoryStore::as_lock(*std::move(file));
  }
  if (!lock) return as_config(lock.error());
  beginning.lock = *std::move(lock);

  auto found = beginning.store->list();
  if (!found) return as_config(found.error());
  beginning.found = *std::move(found);

  auto left = find_left(beginning, start, slots);
  if (!left) return left.error();
  beginning.taken_over = *std::move(left);
  if (beginning.taken_over && !from.savepoint.empty()) {
    return Error{Errc::config,
                 concat(beginning.store->name(),
                        " has a job whose coordinator was lost and whose workers may still run: "
                        "they go on from where they are, not from savepoint '",
                        from.savepoint, "'; wait for them to end")};
  }
  // Workers that run need nothing of what is saved: it is not read.
  if (beginning.taken_over && beginning.taken_over->metadata->term != 0) return beginning;
  if (waited && !beginning.taken_over) return beginning;

  if (!from.savepoint.empty()) {
    if (auto chosen = find_savepoint(beginning, from); !chosen) return chosen.error();
    return beginning;
  }
  auto damaged = find_newest(beginning);
  if (!damaged) return damaged.error();

  if (beginning.taken_over) {
    beginning.resume = beginning.taken_over->metadata->settings.resume.has_value();
    return beginning;
  }
  if (start == Start::standby) {
    return Error{Errc::config,
                 concat("nothing to stand by for: ", beginning.store->name(),
                        " has no job whose workers outlive its coordinator; start one "
                        "with --keep-workers")};
  }
  auto checked = beginning.resume ? check_resume(beginning, *damaged) : check_start(beginning);
  if (checked && !beginning.resume) checked = check_no_savepoints(beginning);
  if (!checked) return checked.error();
  return beginning;
}

Result<Beginning> go_on_in(const std::string& directory, JobRecord::Found left) {
  auto store = store::open_directory_store(directory, false);
  if (!store) return as_config(store.error());
  Beginning beginning;
  beginning.store = *std::move(store);
  auto found = beginning.store->list();
  if (!found) return as_config(found.error());
  beginning.found = *std::move(found);
  beginning.taken_over = std::move(left);
  beginning.resume = true;
  if (beginning.taken_over->metadata->term != 0) return beginning;
  if (auto newest = find_newest(beginning); !newest) return newest.error();
  beginning.resume = beginning.taken_over->metadata->settings.resume.has_value();
  return beginning;
}

Result<Done> accept_job(const Beginning& beginning, const std::string& graph,
                        const std::vector<std::string>& layouts, const MayDiffer& may_differ) {
  if (beginning.newest && beginning.newest->job != graph) {
    const auto old = check_old_routes(beginning, graph);
    if (old && !*old) return *old;
    const auto numbers = old ? std::nullopt : check_numbers(beginning, graph);
    if (numbers && !*numbers) return *numbers;
    if (!old && !numbers) {
      const auto change = check_program(beginning, graph, may_differ);
      if (!change) return change;
    }
  }
  if (beginning.resume) {
    auto fit = check_states(beginning, graph, layouts, may_differ.states);
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
