#include "control/job_metadata.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "flow/states.h"
#include "wire/checksum.h"
#include "wire/fields.h"

namespace piracema::cluster {

namespace {

constexpr std::uint32_t magic = 0x4d4a4350;  // "PCJM"
// Version 1 had no jobs that could be scaled, versions 1 and 2 no barriers that overtake items, and
// up to version 3 broadcasts had no trees; up to version 4 hosts of a job that may be taken over
// did not change, and up to version 5 nobody knew where they were; up to version 6 nobody knew
// whether outputs could be the job's own.
constexpr std::uint32_t format_version = 7, format_first = 1;
// Of terms, epochs, processes of a slot and snapshots; far from where they would begin anew.
constexpr std::uint32_t count_max = ~std::uint32_t{0} / 2;

Error wrong(const std::string& what) { return {Errc::corrupt, concat("job metadata: ", what)}; }

/// All but the settings of version 1, in the order of the format. Here, so that nobody else takes a
/// reference to them.
auto fields_of_first(JobMetadata& job) {
  return std::tie(job.term, job.graph, job.layouts, job.placement, job.incarnations, job.may_live,
                  job.epoch, job.epoch_holds, job.fruitless, job.ended, job.snapshots,
                  job.emitted_at_snapshot, job.emitted_at_deploy, job.final_failures, job.budget,
                  job.skips, job.stop_requested, job.last_commit, job.end);
}
auto fields_of_second(JobMetadata& job) {
  return std::tuple_cat(fields_of_first(job), std::tie(job.program, job.scale));
}
/// Settings of older versions are those of now but for the last ones.
template <std::size_t last, class... Each>
auto all_but(std::tuple<Each...> all) {
  return [&]<std::size_t... at>(std::index_sequence<at...>) {
    return std::tie(std::get<at>(all)...);
  }
  (std::make_index_sequence<sizeof...(Each) - last>());
}
struct FieldsOfFirst {
  JobMetadata job;
  auto fields() { return std::tuple_cat(all_but<4>(job.settings.fields()), fields_of_first(job)); }
};
struct FieldsOfSecond {
  JobMetadata job;
  auto fields() { return std::tuple_cat(all_but<4>(job.settings.fields()), fields_of_second(job)); }
};
struct FieldsOfThird {
  JobMetadata job;
  auto fields() { return std::tuple_cat(all_but<3>(job.settings.fields()), fields_of_second(job)); }
};
struct FieldsOfFourth {
  JobMetadata job;
  auto fields() { return std::tuple_cat(all_but<2>(job.settings.fields()), fields_of_second(job)); }
};
struct FieldsOfFifth {
  JobMetadata job;
  auto fields() {
    return std::tuple_cat(all_but<2>(job.settings.fields()), fields_of_second(job),
                          std::tie(job.hosts));
  }
};
struct FieldsOfSixth {
  JobMetadata job;
  auto fields() {
    return std::tuple_cat(std::tie(job.settings), fields_of_second(job), std::tie(job.hosts));
  }
};
struct Fields {
  JobMetadata job;
  auto fields() {
    return std::tuple_cat(std::tie(job.settings), fields_of_second(job),
                          std::tie(job.hosts, job.started));
  }
};

struct Counted {
  std::size_t nodes = 0, replicas = 0;
};
// Errc::corrupt for what is no graph with this placement on so many slots.
Result<Counted> count(const std::string& graph, const std::vector<std::string>& layouts,
                      const std::vector<Slot>& placement, std::uint32_t slots) {
  Counted found;
  if (!graph.empty()) {
    const auto shape = runtime::decode_shape(graph);
    if (!shape) return wrong(shape.error().message);
    if (auto fit = flow::check_types(*shape, {layouts}); !fit) return wrong(fit.error().message);
    found.nodes = shape->nodes.size();
    for (const NodeShape& node : shape->nodes) found.replicas += node.replicas;
  }
  const bool placed =
      std::all_of(placement.begin(), placement.end(), [slots](Slot slot) { return slot < slots; });
  if (placement.size() != found.replicas || !placed) return wrong("a placement of another job");
  return found;
}

}  // namespace

JobMetadata::JobMetadata(JobSettings with)
    : settings(std::move(with)),
      incarnations(settings.slots),
      snapshots(settings.resume, settings.found),
      budget(settings.restart_budget, settings.restart_window) {}

std::uint32_t JobMetadata::slots_wanted() const {
  return std::max(settings.slots, scale ? scale->slots : 0);
}

bool JobMetadata::has_ended(ReplicaId replica) const {
  return std::binary_search(ended.begin(), ended.end(), replica);
}

Result<Done> JobMetadata::apply(const Decision& decision) {
  if (end && !std::holds_alternative<TermRaised>(decision)) {
    // Processes that leave are still accounted for.
    const bool of_a_process = std::holds_alternative<ProcessReplaced>(decision) ||
                              std::holds_alternative<ProcessGone>(decision);
    if (!of_a_process) return wrong("something is decided after the end");
  }
  return std::visit([this](const auto& what) { return on(what); }, decision);
}

Result<Done> JobMetadata::on(const TermRaised& raised) {
  if (raised.term <= term) return wrong(concat("term ", raised.term, " follows term ", term));
  term = raised.term;
  // Nobody knows which parts of it there are.
  if (const auto open = snapshots.open()) return snapshots.gave_up(*open);
  return Done{};
}

Result<Done> JobMetadata::on(const JobPlanned& planned) {
  if (!graph.empty()) return wrong("a job is planned twice");
  program = planned.graph;
  graph = planned.graph;
  layouts = planned.layouts;
  placement = planned.placement;
  return check();
}

Result<Done> JobMetadata::on(const EpochRaised& raised) {
  if (raised.epoch != epoch + 1 || epoch_holds || graph.empty()) {
    return wrong(concat("epoch ", raised.epoch, " follows epoch ", epoch));
  }
  epoch = raised.epoch;
  epoch_holds = true;
  ended.clear();
  last_commit.reset();
  emitted_at_deploy = emitted_at_snapshot;
  return Done{};
}

Result<Done> JobMetadata::on(const EpochEnded& over) {
  if (over.epoch != epoch || !epoch_holds) return wrong(concat("epoch ", over.epoch, " ends"));
  epoch_holds = false;
  fruitless += 1;
  return Done{};
}

Result<Done> JobMetadata::on(const EpochFruitful& fruitful) {
  if (fruitful.epoch != epoch) return wrong(concat("epoch ", fruitful.epoch, " is fruitful"));
  fruitless = 0;
  return Done{};
}

Result<Done> JobMetadata::on(const ProcessReplaced& replaced) {
  const auto [slot, incarnation, lives] = replaced;
  if (slot >= incarnations.size() || incarnations[slot] != incarnation) {
    return wrong(concat("process ", slot, ".", incarnation, " is replaced"));
  }
  incarnations[slot] += 1;
  if (lives) may_live.push_back({slot, incarnation});
  return Done{};
}

Result<Done> JobMetadata::on(const ProcessGone& gone) {
  if (std::erase(may_live, ProcessId{gone.slot, gone.incarnation}) != 0) return Done{};
  return wrong(concat("process ", gone.slot, ".", gone.incarnation, " is gone"));
}

Result<Done> JobMetadata::on(const ReplicaEnded& over) {
  if (over.replica >= placement.size() || has_ended(over.replica)) {
    return wrong(concat("replica ", over.replica, " ends"));
  }
  ended.insert(std::upper_bound(ended.begin(), ended.end(), over.replica), over.replica);
  return Done{};
}

Result<Done> JobMetadata::on(const SnapshotBegun& begun) { return snapshots.begun(begun.id); }

Result<Done> JobMetadata::on(const SnapshotSaved& saved) {
  if (saved.snapshot.parts.size() != placement.size()) {
    return wrong(concat("snapshot ", saved.snapshot.id, " has not all parts"));
  }
  auto done = snapshots.saved(saved.snapshot);
  return done ? snapshots.check(placement.size()) : done;
}

Result<Done> JobMetadata::on(const SnapshotCompleted& completed) {
  const std::uint64_t emitted = snapshots.writing() ? snapshots.writing()->emitted : 0;
  auto done = snapshots.completed(completed.id, settings.snapshots_kept);
  if (!done) return done;
  emitted_at_snapshot = emitted_at_deploy + emitted;
  fruitless = 0;
  final_failures = 0;
  return Done{};
}

Result<Done> JobMetadata::on(const SnapshotGivenUp& over) {
  auto done = snapshots.gave_up(over.id);
  if (done && over.final) final_failures += 1;
  return done;
}

Result<Done> JobMetadata::on(const FailureCounted& failure) {
  budget.failed(failure.suspects,
                failure.certain ? RestartBudget::Blame::certain : RestartBudget::Blame::likely);
  return check();
}

Result<Done> JobMetadata::on(const ItemBanned& banned) {
  if (!banned.culprit.item) return wrong("an item without a number is banned");
  skips.push_back({banned.culprit.node, *banned.culprit.item});
  budget.reset(banned.culprit);
  return check();
}

Result<Done> JobMetadata::on(const StopAccepted&) {
  stop_requested = true;
  return Done{};
}

Result<Done> JobMetadata::on(const LastCommitBegun& commit) {
  if (!epoch_holds || last_commit) return wrong(concat("snapshot ", commit.id, " is the last one"));
  last_commit = commit.id;
  return Done{};
}

Result<Done> JobMetadata::on(const JobEnded& over) {
  end = over;
  return Done{};
}

Result<Done> JobMetadata::on(const ScaleBegun& begun) {
  if (scale || graph.empty() || begun.slots > slots_max) {
    return wrong("a job is scaled that cannot be");
  }
  scale = begun;
  incarnations.resize(std::max<std::size_t>(incarnations.size(), begun.slots));
  return check();
}

// What counted by the numbers of replicas begins anew. Items that are skipped are numbered by their
// source, whose replicas stay.
Result<Done> JobMetadata::on(const PlanChanged&) {
  if (!scale || epoch_holds || snapshots.open() || snapshots.writing()) {
    return wrong("the plan changes while work counts that was done by it");
  }
  graph = scale->graph;
  placement = scale->placement;
  settings.slots = scale->slots;
  scale.reset();
  ended.clear();
  started = false;
  budget = RestartBudget(settings.restart_budget, settings.restart_window);
  return check();
}

Result<Done> JobMetadata::on(const ScaleGivenUp&) {
  if (!scale) return wrong("nothing is being scaled");
  scale.reset();
  return Done{};
}

Result<Done> JobMetadata::on(const HostsChanged& changed) {
  if (!hosts.may_become(changed.now)) return wrong("a host takes the place of another one");
  hosts = changed.now;
  return Done{};
}

Result<Done> JobMetadata::on(const AllStarted&) {
  if (!epoch_holds || started) return wrong("replicas are started that were, or cannot be");
  started = true;
  return Done{};
}

Buffer JobMetadata::encode() const {
  Fields all{*this};
  Buffer body;
  wire::FieldWriter(body).put(all);
  Buffer out;
  wire::Writer writer(out);
  writer.number(magic);
  writer.number(format_version);
  writer.number(wire::checksum(body));
  writer.raw(body);
  return out;
}

Result<JobMetadata> JobMetadata::decode(Bytes bytes) {
  wire::Reader reader(bytes);
  const auto kind = reader.number<std::uint32_t>();
  const auto version = reader.number<std::uint32_t>();
  const auto sum = reader.number<std::uint64_t>();
  if (!reader.ok() || kind != magic) return wrong("these bytes are something else");
  if (version < format_first || version > format_version) {
    return Error{Errc::refused, concat("job metadata: want version ", format_first, " to ",
                                       format_version, ", found ", version)};
  }
  const Bytes body = reader.raw(reader.left());
  if (wire::checksum(body) != sum) return wrong("the checksum does not fit");
  const auto checked = [](auto all) -> Result<JobMetadata> {
    if (!all) return wrong(all.error().message);
    if constexpr (std::is_same_v<decltype(all), Result<FieldsOfFirst>>) {
      all->job.program = all->job.graph;
    }
    if (auto right = all->job.check(); !right) return right.error();
    return std::move(all->job);
  };
  if (version == 1) return checked(wire::decode<FieldsOfFirst>(body));
  if (version == 2) return checked(wire::decode<FieldsOfSecond>(body));
  if (version == 3) return checked(wire::decode<FieldsOfThird>(body));
  if (version == 4) return checked(wire::decode<FieldsOfFourth>(body));
  if (version == 5) return checked(wire::decode<FieldsOfFifth>(body));
  if (version == 6) return checked(wire::decode<FieldsOfSixth>(body));
  return checked(wire::decode<Fields>(body));
}

Result<Done> JobMetadata::check() const {
  if (auto valid = validate(settings); !valid) return wrong(valid.error().message);
  if (incarnations.size() < slots_wanted() || incarnations.size() > slots_max) {
    return wrong("processes that are not the job's");
  }
  if (term > count_max || epoch > count_max || snapshots.next_id() > count_max) {
    return wrong("a number that nobody has counted up to");
  }
  for (const std::uint32_t incarnation : incarnations) {
    if (incarnation > count_max) return wrong("a slot that too many processes had");
  }
  for (const auto& [slot, incarnation] : may_live) {
    if (slot >= incarnations.size() || incarnation >= incarnations[slot]) {
      return wrong(concat("process ", slot, ".", incarnation, " of the future may live"));
    }
  }
  const auto counted = count(graph, layouts, placement, settings.slots);
  if (!counted) return counted.error();
  const std::size_t nodes = counted->nodes, replicas = counted->replicas;
  if (program.empty() != graph.empty()) return wrong("a graph without a program");
  if (program != graph) {
    const auto meant = runtime::decode_shape(program);
    if (!meant || meant->nodes.size() != nodes) return wrong("a graph of another program");
  }
  if (scale) {
    if (graph.empty() || scale->slots == 0) return wrong("nothing is scaled");
    const auto next = count(scale->graph, layouts, scale->placement, scale->slots);
    if (!next) return next.error();
    if (next->nodes != nodes) return wrong("another program is to follow");
  }
  if (term == 0 && (epoch != 0 || !graph.empty() || stop_requested || end)) {
    return wrong("something was decided before the first term");
  }
  if (epoch_holds && (epoch == 0 || graph.empty())) return wrong("an epoch before the first one");
  if (started && epoch == 0) return wrong("replicas are started before the first epoch");
  if (!std::is_sorted(ended.begin(), ended.end()) ||
      std::adjacent_find(ended.begin(), ended.end()) != ended.end() ||
      (!ended.empty() && ended.back() >= replicas)) {
    return wrong("replicas have ended that are not the job's");
  }
  if (auto fit = snapshots.check(replicas); !fit) return wrong(fit.error().message);
  if (!budget.is_of(settings.restart_budget, settings.restart_window, nodes, replicas)) {
    return wrong("a restart budget of another job");
  }
  if (!HostsOfJob().may_become(hosts)) return wrong("slots on hosts that are not the job's");
  const bool known = std::all_of(skips.begin(), skips.end(),
                                 [&](const runtime::Skip& skip) { return skip.node < nodes; });
  if (!known) return wrong("an item of another job is skipped");
  return Done{};
}

}  // namespace piracema::cluster
