#include "jobs/cluster_state.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "jobs/placement.h"
#include "jobs/rights.h"
#include "wire/checksum.h"
#include "wire/fields.h"

namespace piracema::jobs {

namespace {

constexpr std::uint64_t ns_in_ms = 1'000'000;
constexpr std::uint64_t step_most_ms = 1'000;
// So large may an answer be, about: the group has a bound for replies.
constexpr std::size_t answer_bytes = std::size_t{256} << 10;

Answer refused(std::string why) {
  return {.verdict = Answer::Verdict::refused, .why = std::move(why)};
}
Answer stranger(std::string why) {
  return {.verdict = Answer::Verdict::stranger, .why = std::move(why)};
}

std::size_t bytes_of(const std::vector<std::string>& words) {
  std::size_t bytes = 0;
  for (const std::string& word : words) bytes += word.size() + 8;
  return bytes;
}
std::size_t bytes_of(const JobSpec& spec) {
  return 200 + spec.directory.size() + bytes_of(spec.command) + bytes_of(spec.environment);
}

/// Stands for what whoever follows the job sees of it.
std::uint64_t mark_seen(const Job& job) {
  struct Seen {
    JobState state = JobState::waiting;
    std::uint32_t attempt = 0;
    std::uint64_t said = 0;
    std::string why;
    /// Of what is run beside it.
    std::vector<std::uint32_t> ended = {};
    auto fields() { return std::tie(state, attempt, said, why, ended); }
  };
  Seen seen{job.state, job.attempt, job.output_before + job.output.size(), job.why};
  for (auto at = job.parts.lower_bound(first_beside); at != job.parts.end(); ++at) {
    if (at->second.ended) seen.ended.push_back(at->first);
  }
  const std::uint64_t mark = wire::checksum(wire::encode(seen));
  return mark == 0 ? 1 : mark;
}

/// All of it, for replicas that come late.
struct Whole {
  std::vector<Job> jobs;
  std::vector<Node> nodes;
  JobId last_job = 0;
  std::uint64_t time = 0, own_ms = 0;
  auto fields() { return std::tie(jobs, nodes, last_job, time, own_ms); }
};

}  // namespace

// ---- the state machine --------------------------------------------------------------------------

Buffer ClusterState::apply(Bytes operation, const smr::Context& context) {
  pass(context.time);
  auto decoded = decode_operation(operation);
  if (!decoded) {
    return encode(Answer{.verdict = Answer::Verdict::nonsense, .why = decoded.error().message});
  }
  if (auto no = refusal(context.client, *decoded, nodes_)) return encode(refused(*std::move(no)));
  const Answer answer = std::visit([this](const auto& what) { return on(what); }, *decoded);
  if (const auto* join = std::get_if<Join>(&*decoded);
      join && answer.verdict == Answer::Verdict::done) {
    nodes_.at(join->node).client = context.client;
  }
  return encode(answer);
}

Buffer ClusterState::query(Bytes operation) const {
  const auto decoded = decode_operation(operation);
  if (!decoded) {
    return encode(Answer{.verdict = Answer::Verdict::nonsense, .why = decoded.error().message});
  }
  if (const auto* jobs = std::get_if<ListJobs>(&*decoded)) return encode(on(*jobs));
  if (const auto* nodes = std::get_if<ListNodes>(&*decoded)) return encode(on(*nodes));
  if (const auto* job = std::get_if<ShowJob>(&*decoded)) return encode(on(*job));
  if (const auto* await = std::get_if<AwaitOrders>(&*decoded)) return encode(on(*await));
  if (const auto* await = std::get_if<AwaitJob>(&*decoded)) return encode(on(*await));
  return encode(
      Answer{.verdict = Answer::Verdict::nonsense, .why = "it changes something: have it ordered"});
}

smr::Keys ClusterState::keys(Bytes) const { return {.reads = {}, .writes = {}, .all = true}; }

std::optional<std::uint64_t> ClusterState::next_deadline() const {
  std::optional<std::uint64_t> first;
  for (const auto& [name, node] : nodes_) {
    if (node.alive && (!first || node.lease_until_ms < *first)) first = node.lease_until_ms;
  }
  std::optional<std::uint64_t> left;
  if (first) left = *first > own_ms_ ? *first - own_ms_ : 0;
  const std::uint64_t now_ms = time_ / ns_in_ms;
  for (const auto& [id, job] : jobs_) {
    if (!pauses(job)) continue;
    const std::uint64_t over = job.ended_ms + pause_ms(job);
    left = std::min(left.value_or(over), over > now_ms ? over - now_ms : 0);
  }
  if (!left) return std::nullopt;
  // A step of the clock counts a second at most: what is due later is come to in several.
  return time_ + std::min(*left, step_most_ms) * ns_in_ms;
}

void ClusterState::on_time(const smr::Context& context) {
  pass(context.time);
  bool changed = end_pauses();
  for (auto& [name, node] : nodes_) {
    if (!node.alive || node.lease_until_ms > own_ms_) continue;
    node.alive = false;
    changed = true;
    lose_jobs_of(name, concat("the node ", name, " was not heard of for ", lease_ms, " ms"));
  }
  if (changed) place_all();
}

bool ClusterState::end_pauses() {
  bool any = false;
  for (auto& [id, job] : jobs_) {
    if (!pauses(job) || time_ / ns_in_ms < job.ended_ms + pause_ms(job)) continue;
    job.ended_ms = 0;
    any = true;
  }
  return any;
}

ClusterState::Image ClusterState::snapshot() {
  Whole whole{.jobs = {}, .nodes = {}, .last_job = last_job_, .time = time_, .own_ms = own_ms_};
  for (const auto& [id, job] : jobs_) whole.jobs.push_back(job);
  for (const auto& [name, node] : nodes_) whole.nodes.push_back(node);
  return [whole = std::move(whole)](const Sink& sink) { sink(wire::encode(whole)); };
}

bool ClusterState::restore(Bytes image) {
  auto whole = wire::decode<Whole>(image);
  if (!whole) return false;
  std::map<JobId, Job> jobs;
  std::map<std::string, Node> nodes;
  for (Job& job : whole->jobs) jobs.emplace(job.id, std::move(job));
  for (Node& node : whole->nodes) nodes.emplace(node.name, std::move(node));
  if (jobs.size() != whole->jobs.size() || nodes.size() != whole->nodes.size()) return false;
  jobs_ = std::move(jobs);
  nodes_ = std::move(nodes);
  last_job_ = whole->last_job;
  time_ = whole->time;
  own_ms_ = whole->own_ms;
  by_node_.learn(jobs_);
  changes_ += 1;
  return true;
}

// ---- nodes
// ------------------------------------------------------------------------------------------

void ClusterState::pass(std::uint64_t time) {
  if (time <= time_) return;
  const std::uint64_t passed = (time - time_) / ns_in_ms;
  if (passed == 0) return;
  own_ms_ += std::min(passed, step_most_ms);
  time_ = time;
}

Node* ClusterState::find(const std::string& name, std::uint64_t incarnation) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end() || found->second.incarnation != incarnation) return nullptr;
  return &found->second;
}

bool ClusterState::renew(Node& node) {
  node.lease_until_ms = own_ms_ + lease_ms;
  node.heard_ms = time_ / ns_in_ms;
  return !std::exchange(node.alive, true);
}

Answer ClusterState::on(const Join& join) {
  if (auto right = check_name(join.node); !right) return refused(right.error().message);
  if (join.incarnation == 0 || join.slots == 0 || join.slots > 65'536 ||
      join.directory.size() > 256) {
    return refused(concat("want 1 to 65536 slots and a directory of at most 256 bytes, found ",
                          join.slots, " and ", join.directory.size()));
  }
  if (!is_address(join.address)) {
    return refused(concat("want an address of a host, or none, found '",
                          join.address.substr(0, address_bytes_max), "'"));
  }
  if (!nodes_.contains(join.node) && nodes_.size() == nodes_max) {
    return refused(concat("want at most ", nodes_max, " nodes"));
  }
  Node& node = nodes_[join.node];
  const bool is_new = node.incarnation != join.incarnation;
  if (is_new && node.alive) {
    // Of two processes with one name the first one has it as long as it is heard.
    return refused(concat("the node ", join.node,
                          " is there already; one that has ended is forgotten after ", lease_ms,
                          " ms"));
  }
  node.name = join.node;
  node.incarnation = join.incarnation;
  node.slots = join.slots;
  node.directory = join.directory;
  node.address = join.address;
  node.leaving = false;
  lend(node, join.lent);
  node.last_report = is_new ? join.number : std::max(node.last_report, join.number);
  if (is_new) lose_jobs_of(join.node, concat("the node ", join.node, " was started again"));
  renew(node);
  place_all();
  return told(join.node, {});
}

Answer ClusterState::on(const Report& report) {
  Node* const node = find(report.node, report.incarnation);
  if (node == nullptr) {
    return stranger(concat("another process has the name of the node ", report.node));
  }
  // Nearly all that nodes say is that they are there.
  bool changed = renew(*node);
  if (report.leaving) changed |= begins_to_leave(*node);
  // Before what has ended: whoever was asked to leave has not failed.
  if (report.number > node->last_report) changed |= lend(*node, report.lent);
  for (const Said& said : report.said) {
    Job* const job = running(said.attempt, report.node);
    if (job == nullptr) continue;
    heard(*job, said);
    changes_ += 1;
  }
  changed |= all_ended(report);
  // What a node had when it asked says nothing any more once a later report has come.
  std::vector<Ended> gone;
  if (report.number >
      std::exchange(node->last_report, std::max(node->last_report, report.number))) {
    changed |= parts_gone(report);
    auto [follows, told] = follow_wants(report);
    changed |= follows;
    gone = std::move(told);
  }
  if (changed) {
    settle_all();
    place_all();
  }
  Answer answer = told(report.node, report.has);
  answer.ended = std::move(gone);
  return answer;
}

bool ClusterState::begins_to_leave(Node& node) {
  if (std::exchange(node.leaving, true)) return false;
  ask_to_leave(node.name);
  return true;
}

bool ClusterState::all_ended(const Report& report) {
  bool any = false;
  for (const Ended& end : report.ended) {
    if (Job* const job = running(end.attempt, report.node)) {
      ended(*job, end);
      any = true;
    }
    if (Part* const one = part(end.attempt, report.node)) {
      one->ended = end;
      one->ended->why.resize(std::min(end.why.size(), why_bytes_max));
      any = true;
    }
  }
  return any;
}

Job* ClusterState::running(const Attempt& attempt, const std::string& node) {
  const auto found = jobs_.find(attempt.job);
  if (found == jobs_.end() || attempt.part != 0) return nullptr;
  Job& job = found->second;
  return runs(job) && job.attempt == attempt.attempt && job.node == node ? &job : nullptr;
}

// What was said twice counts once.
void ClusterState::heard(Job& job, const Said& said) {
  const std::uint64_t known = job.output_before + job.output.size();
  if (said.from > known) {
    job.output = said.text;
    job.output_before = said.from;
  } else if (const std::uint64_t again = known - said.from; again < said.text.size()) {
    job.output.append(said.text, again);
  }
  if (job.output.size() > output_bytes_max) {
    const std::size_t gone = job.output.size() - output_bytes_max;
    job.output.erase(0, gone);
    job.output_before += gone;
  }
}

bool ClusterState::lend(Node& node, const Lent& lent) {
  const Lent before = std::exchange(node.lent, lent);
  node.lent.why.resize(std::min(node.lent.why.size(), why_bytes_max));
  if (before.open && !lent.open) ask_to_leave(node.name);
  // Those that wait are told why it is not.
  return before.open != lent.open || before.why != node.lent.why;
}

void ClusterState::ask_to_leave(const std::string& node) {
  for (auto& [id, job] : jobs_) {
    if (job.state != JobState::running || !has_node(job, node)) continue;
    if (!does_without(job, node)) job.state = JobState::leaving;
  }
}

bool ClusterState::does_without(Job& job, const std::string& node) {
  return follows_nodes(job.spec) && job.node != node && std::erase(job.others, node) != 0;
}

Answer ClusterState::on(const Leave& leave) {
  Node* const node = find(leave.node, leave.incarnation);
  if (node == nullptr) return stranger(concat("another process has the name of ", leave.node));
  node->alive = false;
  node->incarnation = 0;
  lose_jobs_of(leave.node, concat("the node ", leave.node, " has left"));
  place_all();
  return {};
}

Answer ClusterState::on(const Drain& drain) {
  const auto found = nodes_.find(drain.node);
  if (found == nodes_.end()) return refused(concat("there is no node '", drain.node, "'"));
  found->second.draining = drain.on;
  if (drain.on) ask_to_leave(drain.node);
  place_all();
  return {};
}

Answer ClusterState::on(const Forget& forget) {
  const auto found = nodes_.find(forget.node);
  if (found == nodes_.end()) return {};
  if (found->second.alive) {
    return refused(concat("the node ", forget.node, " is there: want one that has ended, or was ",
                          "not heard of for ", lease_ms, " ms"));
  }
  for (const auto& [id, job] : jobs_) {
    const bool has_places = job.state != JobState::waiting && !is_over(job.state);
    if (!has_places || !lives_on(job, forget.node)) continue;
    return refused(concat("job ", id, " has places on the node ", forget.node,
                          ": want one that no job has, so cancel it or wait for its end"));
  }
  nodes_.erase(found);
  // What waits for it is told that it is not there.
  place_all();
  return {};
}

// ---- jobs
// -----------------------------------------------------------------------------------------

Answer ClusterState::on(const Submit& submit) {
  if (auto right = check(submit.spec); !right) return refused(right.error().message);
  const auto open = std::count_if(jobs_.begin(), jobs_.end(),
                                  [](const auto& job) { return !is_over(job.second.state); });
  if (static_cast<std::size_t>(open) >= open_max) {
    return refused(concat("there are ", open_max, " jobs that are not over: want less"));
  }
  Job& job = jobs_[++last_job_];
  job.id = last_job_;
  job.spec = submit.spec;
  job.submitted_ms = time_ / ns_in_ms;
  place_all();
  return {.job = last_job_};
}

Answer ClusterState::on(const Cancel& cancel) {
  const auto found = jobs_.find(cancel.job);
  if (found == jobs_.end()) return refused(concat("there is no job ", cancel.job));
  Job& job = found->second;
  if (is_over(job.state)) return refused(concat("job ", cancel.job, " is over"));
  job.cancelled = true;
  if (job.state == JobState::waiting) {
    job.why = "cancelled before it began";
    over(job, JobState::cancelled);
  } else if (job.state == JobState::ending) {
    if (job.next == JobState::waiting) job.next = JobState::cancelled;
  } else {
    job.state = JobState::leaving;
  }
  place_all();
  return {};
}

void ClusterState::place_all() {
  for (auto& [name, node] : nodes_) node.used = 0;
  for (const auto& [id, job] : jobs_) {
    if (job.state == JobState::waiting || is_over(job.state)) continue;
    nodes_[job.node].used += job.spec.slots;
    std::set<std::string> others(job.others.begin(), job.others.end());
    // Also where a part has yet to leave.
    for (const auto& [number, part] : job.parts) {
      if (!part.ended && part.node != job.node) others.insert(part.node);
    }
    for (const std::string& other : others) nodes_[other].used += job.spec.slots;
  }
  for (const Placed& placed : place(jobs_, nodes_)) {
    Job& job = jobs_[placed.job];
    for (const std::string& node : placed.nodes) nodes_[node].used += job.spec.slots;
    if (job.state == JobState::running) {
      job.others.insert(job.others.end(), placed.nodes.begin(), placed.nodes.end());
      continue;
    }
    job.state = JobState::running;
    job.node = placed.nodes.front();
    job.others.assign(placed.nodes.begin() + 1, placed.nodes.end());
    job.parts.clear();
    job.attempt += 1;
    job.started_ms = time_ / ns_in_ms;
    job.why.clear();
    job.output.clear();
    job.output_before = 0;
  }
  by_node_.learn(jobs_);
  changes_ += 1;
}

// Nobody says how they ended; nothing of them is alive.
void ClusterState::lose_jobs_of(const std::string& node, const std::string& why) {
  lose_parts_of(node, why);
  for (auto& [id, job] : jobs_) {
    if (job.state == JobState::running) does_without(job, node);
    if (!runs(job) || job.node != node) continue;
    job.losses += 1;
    job.why = why;
    again_or_over(job, JobState::failed);
  }
  settle_all();
}

void ClusterState::ended(Job& job, const Ended& end) {
  job.code = end.code;
  job.why = end.why.substr(0, why_bytes_max);
  if (end.end == End::fenced) {
    job.losses += 1;
    return again_or_over(job, JobState::failed);
  }
  if (end.end == End::exited && end.code == 0) return become(job, JobState::done);
  // Asked to leave by a drain it is no failure of its own.
  const bool moved = job.state == JobState::leaving && !job.cancelled;
  if (moved) return again_or_over(job, JobState::failed);
  job.failures += 1;
  // One that fails at once each time would keep nodes and group busy.
  if (job.failures <= job.spec.retries && !job.cancelled) {
    job.ended_ms = std::max<std::uint64_t>(1, time_ / ns_in_ms);
    job.why = concat("begins again after a pause of ", pause_ms(job) / 1'000, " s: ", job.why);
  }
  again_or_over(job, JobState::failed);
}

void ClusterState::again_or_over(Job& job, JobState state) {
  if (job.cancelled) return become(job, JobState::cancelled);
  if (job.failures > job.spec.retries) return become(job, state);
  if (job.losses >= losses_max) {
    job.why += concat("; that was the ", losses_max, "th time that it lost its node");
    return become(job, state);
  }
  become(job, JobState::waiting);
}

// Not before its parts have ended.
void ClusterState::become(Job& job, JobState next) {
  job.next = next;
  job.state = JobState::ending;
}

void ClusterState::settle(Job& job) {
  job.parts.clear();
  if (is_over(job.next)) return over(job, job.next);
  job.state = JobState::waiting;
}

void ClusterState::over(Job& job, JobState state) {
  job.state = state;
  job.ended_ms = time_ / ns_in_ms;
  auto over = static_cast<std::size_t>(std::count_if(
      jobs_.begin(), jobs_.end(), [](const auto& one) { return is_over(one.second.state); }));
  // Not this one: whoever has called still has a hand on it.
  const JobId own = job.id;
  std::erase_if(jobs_, [&](const auto& one) {
    if (over <= over_max || one.first == own || !is_over(one.second.state)) return false;
    over -= 1;
    return true;
  });
}

std::vector<Order> ClusterState::orders_for(const std::string& node,
                                            const std::vector<Attempt>& has) const {
  std::vector<Order> orders;
  std::size_t bytes = 0;
  for (const JobId id : by_node_.on(node)) {
    const Job& job = jobs_.at(id);
    if (!runs(job)) continue;
    const auto is_new = [&](const Order& order, std::size_t takes) {
      if (std::find(has.begin(), has.end(), order.attempt) != has.end()) return false;
      // The rest is told next time.
      if (bytes > answer_bytes) return false;
      bytes += takes;
      return true;
    };
    if (job.node == node) {
      Order order{.attempt = {id, job.attempt}, .leave = job.state == JobState::leaving};
      if (is_new(order, bytes_of(job.spec))) {
        order.spec = job.spec;
      }
      if (follows_nodes(job.spec) || (order.spec && job.spec.nodes > 1)) {
        order.hosts = hosts_of(job);
      }
      orders.push_back(std::move(order));
    }
    for (const auto& [number, part] : job.parts) {
      if (part.node != node || part.ended || !part.wanted) continue;
      Order order{.attempt = {id, job.attempt, number}, .leave = !has_node(job, node)};
      if (is_new(order, bytes_of(job.spec) + bytes_of(part.command) + part.input.size())) {
        order.spec = job.spec;
        order.spec->command = part.command;
        order.input = part.input;
      }
      orders.push_back(std::move(order));
    }
  }
  return orders;
}

Answer ClusterState::told(const std::string& node, const std::vector<Attempt>& has) const {
  return {.orders = orders_for(node, has), .now_ms = time_ / ns_in_ms, .mark = mark_of(node)};
}

std::uint64_t ClusterState::mark_of(const std::string& node) const {
  struct Told {
    Attempt attempt;
    bool leaves = false, has_ended = false;
    std::vector<std::string> hosts = {};
    auto fields() { return std::tie(attempt, leaves, has_ended, hosts); }
  };
  std::vector<Told> all;
  for (const JobId id : by_node_.on(node)) {
    const Job& job = jobs_.at(id);
    if (!runs(job)) continue;
    const bool leads = job.node == node;
    if (leads) all.push_back({{id, job.attempt}, job.state == JobState::leaving, false});
    if (leads && follows_nodes(job.spec)) all.back().hosts = hosts_of(job);
    for (const auto& [number, part] : job.parts) {
      const Attempt attempt{id, job.attempt, number};
      if (part.node == node && !part.ended && part.wanted) {
        all.push_back({attempt, !has_node(job, node), false});
      }
      if (leads && part.ended && !is_beside(attempt)) all.push_back({attempt, false, true});
    }
  }
  const std::uint64_t mark = wire::checksum(wire::encode(all));
  return mark == 0 ? 1 : mark;
}

std::vector<std::string> ClusterState::hosts_of(const Job& job) const {
  std::vector<std::string> hosts{concat(job.node, "=", nodes_.at(job.node).address)};
  for (const std::string& other : job.others) {
    hosts.push_back(concat(other, "=", nodes_.at(other).address));
  }
  return hosts;
}

// ---- questions
// -----------------------------------------------------------------------------------

Answer ClusterState::on(const ListJobs& list) const {
  Answer answer{.now_ms = time_ / ns_in_ms};
  std::size_t bytes = 0;
  for (auto at = jobs_.lower_bound(list.from); at != jobs_.end(); ++at) {
    bytes += bytes_of(at->second.spec);
    if (bytes > answer_bytes) {
      answer.next = at->first;
      break;
    }
    answer.jobs.push_back(at->second);
    answer.jobs.back().output.clear();
    // They may have keys in them.
    answer.jobs.back().parts.clear();
  }
  return answer;
}

Answer ClusterState::on(const ListNodes&) const {
  Answer answer{.now_ms = time_ / ns_in_ms};
  for (const auto& [name, node] : nodes_) answer.nodes.push_back(node);
  return answer;
}

Answer ClusterState::on(const AwaitOrders& await) const {
  const auto found = nodes_.find(await.node);
  const std::uint64_t now_ms = time_ / ns_in_ms;
  // A stranger learns of it by its next report.
  if (now_ms < await.now_ms || found == nodes_.end() ||
      found->second.incarnation != await.incarnation) {
    return {.now_ms = now_ms};
  }
  const std::uint64_t mark = mark_of(await.node);
  return {.now_ms = now_ms, .mark = mark == await.mark ? 0 : mark};
}

Answer ClusterState::on(const AwaitJob& await) const {
  const std::uint64_t now_ms = time_ / ns_in_ms;
  if (now_ms < await.now_ms) return {.now_ms = now_ms};
  Answer answer = on(ShowJob{await.job});
  if (answer.verdict != Answer::Verdict::done) return answer;
  const std::uint64_t mark = mark_seen(answer.jobs.front());
  if (mark == await.mark) return {.now_ms = now_ms};
  answer.mark = mark;
  return answer;
}

bool ClusterState::has_news(Bytes reply) const {
  const auto answer = decode_answer(reply);
  return !answer || answer->verdict != Answer::Verdict::done || answer->mark != 0;
}

Answer ClusterState::on(const ShowJob& show) const {
  const auto found = jobs_.find(show.job);
  if (found == jobs_.end()) return refused(concat("there is no job ", show.job));
  Answer answer{.jobs = {found->second}, .now_ms = time_ / ns_in_ms};
  // Of those of its command words may be keys.
  auto& parts = answer.jobs.front().parts;
  parts.erase(parts.begin(), parts.lower_bound(first_beside));
  return answer;
}

}  // namespace piracema::jobs
