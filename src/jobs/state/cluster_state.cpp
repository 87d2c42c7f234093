#include "jobs/state/cluster_state.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "jobs/state/cluster_image.h"
#include "jobs/state/orders.h"
#include "jobs/state/rights.h"

namespace piracema::jobs {

namespace {

constexpr std::uint64_t ns_in_ms = 1'000'000;
constexpr std::uint64_t step_most_ms = 1'000;
// By less than that the end of a window does not move.
constexpr std::uint64_t close_moves_ms = 5'000;

Answer refused(std::string why) {
  return {.verdict = Answer::Verdict::refused, .why = std::move(why)};
}
Answer stranger(std::string why) {
  return {.verdict = Answer::Verdict::stranger, .why = std::move(why)};
}

}  // namespace

// ---- the state machine --------------------------------------------------------------------------

Buffer ClusterState::apply(Bytes operation, const smr::Context& context) {
  pass(context.time);
  auto decoded = decode_operation(operation);
  if (!decoded) {
    return encode(Answer{.verdict = Answer::Verdict::nonsense, .why = decoded.error().message});
  }
  // The reply to one that is ordered is the same on all replicas.
  if (is_beside_order(*decoded))
    return encode(refused("want that out of the order, found it in it"));
  if (auto no = refusal(context.client, *decoded, {users_, nodes_, jobs_.all()})) {
    return encode(refused(*std::move(no)));
  }
  if (const auto answer = questions().answer(*decoded)) return encode(*answer);
  return encode(std::visit(
      [&](const auto& what) -> Answer {
        if constexpr (requires { on(what, context.client); }) {
          return on(what, context.client);
        } else if constexpr (requires { on(what); }) {
          return on(what);
        } else {
          return {};  // A question, which is answered above.
        }
      },
      *decoded));
}

Questions ClusterState::questions() const {
  return Questions({jobs_, nodes_, users_, history_, streams_, now_ms()});
}

Buffer ClusterState::query(Bytes operation) const {
  const auto decoded = decode_operation(operation);
  if (!decoded) {
    return encode(Answer{.verdict = Answer::Verdict::nonsense, .why = decoded.error().message});
  }
  if (const auto answer = questions().answer(*decoded)) return encode(*answer);
  return encode(
      Answer{.verdict = Answer::Verdict::nonsense, .why = "it changes something: have it ordered"});
}

bool ClusterState::has_news(Bytes reply) const {
  const auto answer = decode_answer(reply);
  return !answer || answer->verdict != Answer::Verdict::done || answer->mark != 0;
}

smr::Keys ClusterState::keys(Bytes) const { return {.reads = {}, .writes = {}, .all = true}; }

std::optional<std::uint64_t> ClusterState::next_deadline() const {
  std::optional<std::uint64_t> first;
  for (const auto& [name, node] : nodes_) {
    if (node.alive && (!first || node.lease_until_ms < *first)) first = node.lease_until_ms;
  }
  std::optional<std::uint64_t> left;
  if (first) left = *first > own_ms_ ? *first - own_ms_ : 0;
  if (const auto next = jobs_.next_ms()) {
    const std::uint64_t until = *next > now_ms() ? *next - now_ms() : 0;
    left = std::min(left.value_or(until), until);
  }
  if (!left) return std::nullopt;
  // A step of the clock counts a second at most: what is due later is come to in several.
  return time_ + std::min(*left, step_most_ms) * ns_in_ms;
}

void ClusterState::on_time(const smr::Context& context) {
  pass(context.time);
  bool changed = jobs_.end_pauses(now_ms());
  for (auto& [name, node] : nodes_) {
    if (!node.alive || node.lease_until_ms > own_ms_) continue;
    node.alive = false;
    changed = true;
    happened(Event::Kind::node_lost, name, concat("not heard of for ", lease_ms, " ms"));
    jobs_.lose(name, nodes_, concat("the node ", name, " was not heard of for ", lease_ms, " ms"));
  }
  if (changed) place_all();
}

ClusterState::Image ClusterState::snapshot() {
  ClusterImage image{.jobs = {},
                     .nodes = {},
                     .users = {},
                     .events = history_.from(0),
                     .last_job = jobs_.last(),
                     .time = time_,
                     .own_ms = own_ms_};
  for (const auto& [id, job] : jobs_.all()) image.jobs.push_back(job);
  for (const auto& [name, node] : nodes_) image.nodes.push_back(node);
  for (const auto& [name, user] : users_.all()) image.users.push_back(user);
  return [image = std::move(image)](const Sink& sink) { sink(encode(image)); };
}

bool ClusterState::restore(Bytes bytes) {
  auto image = decode_image(bytes);
  if (!image) return false;
  std::map<std::string, Node> nodes;
  for (Node& node : image->nodes) nodes.emplace(node.name, std::move(node));
  Users users;
  History history;
  if (nodes.size() != image->nodes.size() || !users.replace(image->users) ||
      !history.replace(std::move(image->events))) {
    return false;
  }
  if (!jobs_.replace(std::move(image->jobs), image->last_job)) return false;
  nodes_ = std::move(nodes);
  users_ = std::move(users);
  history_ = std::move(history);
  time_ = image->time;
  history_.pass(now_ms());
  own_ms_ = image->own_ms;
  changes_ += 1;
  return true;
}

// ---- nodes --------------------------------------------------------------------------------------

std::uint64_t ClusterState::now_ms() const { return time_ / ns_in_ms; }

void ClusterState::pass(std::uint64_t time) {
  if (time <= time_) return;
  const std::uint64_t passed = (time - time_) / ns_in_ms;
  if (passed == 0) return;
  own_ms_ += std::min(passed, step_most_ms);
  time_ = time;
  history_.pass(now_ms());
}

Node* ClusterState::find(const std::string& name, std::uint64_t incarnation) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end() || found->second.incarnation != incarnation) return nullptr;
  return &found->second;
}

bool ClusterState::renew(Node& node) {
  node.lease_until_ms = own_ms_ + lease_ms;
  node.heard_ms = now_ms();
  if (std::exchange(node.alive, true)) return false;
  happened(Event::Kind::node_returned, node.name);
  return true;
}

Answer ClusterState::on(const Join& join, std::uint64_t client) {
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
  if (!is_label(join.kind)) {
    return refused(concat("want a kind of at most ", label_bytes_max, " visible letters, found ",
                          join.kind.size(), " bytes"));
  }
  if (!is_site(join.site)) {
    return refused(
        concat("want a site that is a name, or none, found one of ", join.site.size(), " bytes"));
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
  node.client = client;
  node.incarnation = join.incarnation;
  node.slots = join.slots;
  node.directory = join.directory;
  node.address = join.address;
  node.kind = join.kind;
  node.site = join.site;
  node.leaving = false;
  lend(node, join.lent);
  fill(node, join.full);
  node.last_report = is_new ? join.number : std::max(node.last_report, join.number);
  if (is_new) {
    node.alive = true;
    happened(Event::Kind::node_joined, join.node);
    jobs_.lose(join.node, nodes_, concat("the node ", join.node, " was started again"));
  }
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
  std::vector<Ended> gone;
  // It says nothing any more once a later one has come, which said all of it unless this one was
  // answered: the command of a job may run there again in the same attempt.
  if (report.number > node->last_report) {
    node->last_report = report.number;
    // Before what has ended: whoever was asked to leave has not failed.
    changed |= lend(*node, report.lent);
    changed |= fill(*node, report.full);
    if (jobs_.heard(report)) changes_ += 1;
    changed |= jobs_.ended(report, nodes_, now_ms());
    changed |= jobs_.parts_gone(report);
    Followed parts = jobs_.follow_parts(report, nodes_);
    changed |= parts.changed;
    gone = std::move(parts.gone);
  }
  if (changed) place_all();
  Answer answer = told(report.node, report.has);
  answer.ended = std::move(gone);
  return answer;
}

bool ClusterState::begins_to_leave(Node& node) {
  if (std::exchange(node.leaving, true)) return false;
  happened(Event::Kind::node_drains, node.name, "its process is about to end");
  jobs_.ask_to_leave(node);
  return true;
}

bool ClusterState::lend(Node& node, const Lent& lent) {
  const Lent before = std::exchange(node.lent, lent);
  node.lent.why.resize(std::min(node.lent.why.size(), why_bytes_max));
  if (before.open != lent.open) {
    happened(lent.open ? Event::Kind::node_opened : Event::Kind::node_closed, node.name,
             node.lent.why);
  }
  const bool closes_anew = learn_close(node);
  const bool keeps_anew = before.open != lent.open || before.kept != lent.kept;
  if (keeps_anew && !lent.open) jobs_.ask_to_leave(node);
  if (keeps_anew || closes_anew) jobs_.stand_still(node);
  // Those that wait are told why it is not.
  return closes_anew || keeps_anew || before.why != node.lent.why;
}

bool ClusterState::fill(Node& node, bool full) {
  if (std::exchange(node.full, full) == full) return false;
  happened(full ? Event::Kind::node_full : Event::Kind::node_has_room, node.name);
  return true;
}

// Each report says it anew, a moment later and by another clock: that is no news.
bool ClusterState::learn_close(Node& node) {
  const std::uint64_t in_ms = node.lent.closes_in_ms;
  const std::uint64_t closes_ms = in_ms == 0 ? 0 : now_ms() + in_ms;
  const std::uint64_t apart =
      std::max(closes_ms, node.closes_ms) - std::min(closes_ms, node.closes_ms);
  const bool is_news = (closes_ms == 0) != (node.closes_ms == 0) || apart > close_moves_ms;
  if (is_news) node.closes_ms = closes_ms;
  return is_news;
}

Answer ClusterState::on(const Leave& leave) {
  Node* const node = find(leave.node, leave.incarnation);
  if (node == nullptr) return stranger(concat("another process has the name of ", leave.node));
  node->alive = false;
  node->incarnation = 0;
  happened(Event::Kind::node_left, leave.node);
  jobs_.lose(leave.node, nodes_, concat("the node ", leave.node, " has left"));
  place_all();
  return {};
}

Answer ClusterState::on(const Drain& drain) {
  const auto found = nodes_.find(drain.node);
  if (found == nodes_.end()) return refused(concat("there is no node '", drain.node, "'"));
  if (std::exchange(found->second.draining, drain.on) != drain.on) {
    happened(drain.on ? Event::Kind::node_drains : Event::Kind::node_undrained, drain.node);
  }
  if (drain.on) jobs_.ask_to_leave(found->second);
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
  if (const auto job = jobs_.in_places_of(forget.node)) {
    return refused(concat("job ", *job, " has places on the node ", forget.node,
                          ": want one that no job has, so cancel it or wait for its end"));
  }
  happened(Event::Kind::node_forgotten, forget.node);
  nodes_.erase(found);
  // What waits for it is told that it is not there.
  place_all();
  return {};
}

// ---- jobs ---------------------------------------------------------------------------------------

Answer ClusterState::on(const Submit& submit, std::uint64_t client) {
  const User& user = *users_.of_client(client);
  const auto job = jobs_.submit(submit.spec, {user.name, user.account}, now_ms());
  if (!job) return refused(job.error().message);
  place_all();
  return {.job = *job};
}

Answer ClusterState::on(const Cancel& cancel) {
  if (auto done = jobs_.cancel(cancel.job, now_ms()); !done) return refused(done.error().message);
  place_all();
  return {};
}

Answer ClusterState::on(const RunBeside& beside) {
  if (auto right = check(beside); !right) return refused(right.error().message);
  if (auto done = jobs_.run_beside(beside.job, beside.command); !done) {
    return refused(done.error().message);
  }
  changes_ += 1;
  return questions().on(ShowJob{beside.job});
}

Answer ClusterState::on(const Resize& resize) {
  if (auto done = jobs_.resize(resize.job, resize.nodes); !done) {
    return refused(done.error().message);
  }
  place_all();
  return questions().on(ShowJob{resize.job});
}

void ClusterState::place_all() {
  jobs_.place(nodes_, now_ms());
  changes_ += 1;
}

Answer ClusterState::told(const std::string& node, const std::vector<Attempt>& has) const {
  return {.orders = orders_for(node, has, jobs_, nodes_),
          .now_ms = now_ms(),
          .mark = mark_of_orders(node, jobs_, nodes_)};
}

// ---- users -------------------------------------------------------------------------------------

Answer ClusterState::on(const PutUser& put) {
  for (const auto& [name, node] : nodes_) {
    if (node.client == put.user.client) {
      return refused(concat("want a key for each user, found that of the node ", name));
    }
  }
  if (users_.all().contains(put.user.name) != put.is_there) {
    return refused(concat("the cluster has ", put.is_there ? "no user " : "a user ", put.user.name,
                          put.is_there ? "" : " already"));
  }
  if (auto done = users_.put(put.user); !done) return refused(done.error().message);
  happened({.kind = Event::Kind::user_put,
            .user = put.user.name,
            .why = concat("role ", name_of(put.user.role), ", account ",
                          put.user.account.empty() ? "none" : put.user.account)});
  return {};
}

Answer ClusterState::on(const DropUser& drop) {
  const bool was_there = users_.all().contains(drop.name);
  if (auto done = users_.drop(drop.name); !done) return refused(done.error().message);
  if (was_there) happened({.kind = Event::Kind::user_dropped, .user = drop.name});
  return {};
}

void ClusterState::happened(Event::Kind kind, const std::string& node, const std::string& why) {
  history_.add({.kind = kind, .node = node, .why = why});
  changes_ += 1;
}

void ClusterState::happened(Event event) {
  history_.add(std::move(event));
  changes_ += 1;
}

}  // namespace piracema::jobs
