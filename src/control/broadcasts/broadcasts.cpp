#include "control/broadcasts/broadcasts.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "topology/trees/earliest_edge.h"
#include "topology/trees/stream_tree.h"

namespace piracema::cluster {

namespace {

constexpr std::chrono::milliseconds watch_every{250}, plan_every{250};
/// What more of them tell, they tell less often: some hundred a second in all.
constexpr std::chrono::milliseconds watch_of_each{2};
/// Packets of less are judged by when the last one has them, others by how fast they may follow.
constexpr double small_bytes = 65'536;
/// What a process is busy with for a packet, apart from its bytes; seconds.
constexpr double overhead = 20e-6;
/// A tree takes the place of another one for this much of what that costs: less than this nobody
/// knows for certain. Packets that are on the way go once more, so there is a while between two
/// changes, if the next one is not worth so much.
constexpr double better = 0.75, much_better = 0.5;
constexpr std::chrono::seconds change_every{5};
/// More would take a coordinator too long: each host gets packets from the sender itself.
constexpr std::size_t hosts_max = 32;
constexpr std::size_t edges_max = 256;

// An address is HOST:PORT, and what processes of one host may want to know besides follows a comma
// (Reception::address).
std::string host_of(const std::string& address) {
  const std::string where = address.substr(0, address.find(','));
  return where.substr(0, where.rfind(':'));
}

coll::Tree star(std::size_t size) {
  coll::Tree tree(static_cast<coll::Rank>(size), 0);
  for (coll::Rank rank = 1; rank < size; ++rank) tree.adopt(0, rank);
  return tree;
}

}  // namespace

void Broadcasts::begin(const Job& job, const std::vector<runtime::Peer>& processes, Epoch epoch,
                       Time now) {
  epoch_ = epoch;
  edges_.clear();
  host_of_.clear();
  watching_.clear();
  watch_told_ = false;
  for (const runtime::Peer& process : processes) host_of_[process.slot] = host_of(process.address);
  for (const EdgeShape& edge : job.shape.edges) {
    if (edge.delivery == Delivery::broadcast) add(job, edge);
  }
  std::set<Slot> watching;
  for (const Edge& edge : edges_) {
    watching.insert(edge.from);
    for (const auto& slots : edge.slots) watching.insert(slots.begin(), slots.end());
  }
  watching_.assign(watching.begin(), watching.end());
  next_plan_ = now;
  changed_ = true;
}

void Broadcasts::add(const Job& job, const EdgeShape& shape) {
  std::set<Slot> senders;
  std::map<std::string, std::set<Slot>> receivers;
  for (ReplicaId id = 0; id < job.replicas(); ++id) {
    const Slot slot = job.placement[id];
    if (job.plan.replicas[id].node == shape.from) senders.insert(slot);
    if (job.plan.replicas[id].node == shape.to) receivers[host_of_[slot]].insert(slot);
  }
  for (const Slot from : senders) {
    Edge edge{.from = from, .node = shape.to, .node_name = job.shape.nodes[shape.to].name};
    edge.hosts.push_back(host_of_[from]);
    edge.slots.emplace_back();
    for (const auto& [host, slots] : receivers) {
      if (host == edge.hosts.front()) {
        edge.slots.front().assign(slots.begin(), slots.end());
      } else {
        edge.hosts.push_back(host);
        edge.slots.emplace_back(slots.begin(), slots.end());
      }
    }
    if (edge.hosts.size() == 1) continue;
    edge.tree = star(edge.hosts.size());
    edges_.push_back(std::move(edge));
  }
}

void Broadcasts::seen(Slot slot, const runtime::LinksSeen& seen, Time now) {
  const auto own = host_of_.find(slot);
  if (edges_.empty() || own == host_of_.end()) return;
  if (seen.broadcast_bytes != 0) {
    double& bytes = bytes_[slot];
    const auto newest = static_cast<double>(seen.broadcast_bytes);
    bytes = bytes == 0 ? newest : 0.7 * bytes + 0.3 * newest;
  }
  // Connections to one host share what there is.
  std::map<std::string, runtime::LinkSeen> by_host;
  for (const runtime::LinkSeen& link : seen.links) {
    const auto other = host_of_.find(link.to);
    if (other == host_of_.end() || other->second == own->second) continue;
    const auto [found, is_new] = by_host.try_emplace(other->second, link);
    if (is_new) continue;
    runtime::LinkSeen& all = found->second;
    all.bytes_per_second += link.bytes_per_second;
    all.at_least = all.at_least && link.at_least;
    if (all.round_trip_us == 0 || link.round_trip_us == 0) {
      all.round_trip_us = std::max(all.round_trip_us, link.round_trip_us);
    } else {
      all.round_trip_us = std::min(all.round_trip_us, link.round_trip_us);
    }
  }
  const auto is_full = [](const auto& one) {
    return one.second.bytes_per_second != 0 && !one.second.at_least;
  };
  if (std::any_of(by_host.begin(), by_host.end(), is_full)) {
    links_.sent(own->second, seen.bytes_per_second);
  }
  for (const auto& [host, link] : by_host) links_.seen(own->second, host, link, now);
  if (links_.version(now) != planned_version_) changed_ = true;
}

std::optional<Time> Broadcasts::next_deadline() const {
  if (edges_.empty()) return std::nullopt;
  if (changed_) return next_plan_;
  return links_.next_forgotten();
}

Broadcasts::Due Broadcasts::due(Time now) {
  Due due;
  if (edges_.empty()) return due;
  if (links_.version(now) != planned_version_) changed_ = true;
  if (!changed_ || now < next_plan_) return due;
  planned_version_ = links_.version(now);
  changed_ = false;
  next_plan_ = now + plan_every;

  std::map<Slot, runtime::BroadcastTrees> messages;
  const auto processes = static_cast<std::uint32_t>(watching_.size());
  const auto watch =
      static_cast<std::uint32_t>(std::max(watch_every, watch_of_each * processes).count());
  if (!std::exchange(watch_told_, true)) {
    for (const Slot slot : watching_) messages[slot] = {epoch_, {}, watch};
  }
  for (Edge& edge : edges_) {
    const coll::Tree before = edge.tree;
    plan(edge, now);
    if (std::exchange(edge.told, true) && edge.tree == before) continue;
    auto& message = messages[edge.from];
    message.epoch = epoch_;
    message.watch_every_ms = watch;
    message.trees.push_back(tree_of(edge));
    if (edge.tree == before) continue;
    due.notes.push_back({edge.from, edge.node_name, text_of(edge)});
  }
  for (auto& [slot, message] : messages) due.messages.emplace_back(slot, std::move(message));
  return due;
}

double Broadcasts::bytes_of(Slot slot) const {
  const auto bytes = bytes_.find(slot);
  return bytes == bytes_.end() ? 0 : bytes->second;
}

void Broadcasts::plan(Edge& edge, Time at) {
  const double bytes = bytes_of(edge.from);
  const std::size_t size = edge.hosts.size();
  if (bytes == 0 || size < 3 || size > hosts_max || edges_.size() > edges_max) return;
  const bool is_new = edge.changed && at < *edge.changed + change_every;
  const double enough = is_new ? much_better : better;
  const coll::LinkTable links = links_.table(edge.hosts);
  if (bytes < small_bytes) {
    const coll::TableCosts costs(links, overhead, bytes);
    const coll::Tree tree = coll::fast_tree(costs, 0);
    const double now = completion(edge.tree, costs), then = completion(tree, costs);
    if (then < enough * now) change(edge, tree, at);
    return;
  }
  const coll::StreamCosts costs(links, links_.uplinks(edge.hosts), overhead, bytes);
  const coll::Tree tree = coll::stream_tree(costs, 0);
  const double now = period(edge.tree, costs), then = period(tree, costs);
  const bool earlier = first_completion(tree, costs) < enough * first_completion(edge.tree, costs);
  if (then < enough * now || (then <= now && earlier)) change(edge, tree, at);
}

void Broadcasts::change(Edge& edge, coll::Tree tree, Time at) {
  edge.tree = std::move(tree);
  edge.changed = at;
}

// A host is one place for the links; its first process passes on what comes to it.
runtime::BroadcastTree Broadcasts::tree_of(const Edge& edge) const {
  std::map<Slot, coll::Rank> rank_of;
  std::vector<Slot> slot_of;
  const auto rank = [&](Slot slot) {
    const auto [found, is_new] = rank_of.try_emplace(slot, static_cast<coll::Rank>(slot_of.size()));
    if (is_new) slot_of.push_back(slot);
    return found->second;
  };
  rank(edge.from);
  for (const auto& slots : edge.slots) {
    for (const Slot slot : slots) rank(slot);
  }
  coll::Tree tree(static_cast<coll::Rank>(slot_of.size()), 0);
  const auto entry = [&](coll::Rank host) {
    return host == 0 ? coll::Rank{0} : rank(edge.slots[host].front());
  };
  for (coll::Rank host = 0; host < edge.hosts.size(); ++host) {
    // Far ones first: they wait longest.
    for (const coll::Rank child : edge.tree.children[host]) tree.adopt(entry(host), entry(child));
    for (const Slot slot : edge.slots[host]) {
      if (rank(slot) != entry(host)) tree.adopt(entry(host), rank(slot));
    }
  }
  runtime::BroadcastTree told{edge.node, {}};
  for (const coll::Branch& branch : coll::to_branches(tree)) {
    told.branches.push_back({slot_of[branch.rank], branch.below});
  }
  return told;
}

std::string Broadcasts::text_of(const Edge& edge) const {
  std::string text;
  for (const coll::Rank host : coll::top_down(edge.tree)) {
    if (edge.tree.children[host].empty()) continue;
    text += concat(text.empty() ? "" : "; ", edge.hosts[host], " to");
    for (const coll::Rank child : edge.tree.children[host]) text += " " + edge.hosts[child];
  }
  return text;
}

}  // namespace piracema::cluster
