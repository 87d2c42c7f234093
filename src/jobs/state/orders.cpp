#include "jobs/state/orders.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "wire/checksum.h"
#include "wire/fields.h"

namespace piracema::jobs {

namespace {

using Nodes = std::map<std::string, Node>;

std::size_t bytes_of(const std::vector<std::string>& words) {
  std::size_t bytes = 0;
  for (const std::string& word : words) bytes += word.size() + 8;
  return bytes;
}

/// All its nodes that it is to have, the leading one first.
std::vector<HostOfOrder> hosts_of(const Job& job, const Nodes& nodes) {
  std::vector<HostOfOrder> hosts;
  const auto add = [&](const std::string& name) {
    const Node& node = nodes.at(name);
    hosts.push_back({name, node.address, node.site});
  };
  if (!hands_over(job, nodes)) add(job.node);
  for (const std::string& other : job.others) add(other);
  return hosts;
}

/// What a user has run there beside the command may come to its end.
bool is_to_leave(const Job& job, const Attempt& part, const std::string& node, const Nodes& nodes) {
  if (job.node == node) return hands_over(job, nodes) && !is_beside(part);
  return !has_node(job, node);
}

}  // namespace

std::size_t bytes_of(const JobSpec& spec) {
  return 200 + spec.directory.size() + bytes_of(spec.command) + bytes_of(spec.environment);
}

std::vector<Order> orders_for(const std::string& node, const std::vector<Attempt>& has,
                              const JobTable& jobs, const Nodes& nodes) {
  std::vector<Order> orders;
  std::size_t bytes = 0;
  for (const JobId id : jobs.on(node)) {
    const Job& job = jobs.all().at(id);
    if (!runs(job)) continue;
    const auto is_new = [&](const Order& order, std::size_t takes) {
      if (std::find(has.begin(), has.end(), order.attempt) != has.end()) return false;
      // The rest is told next time.
      if (bytes > answer_bytes) return false;
      bytes += takes;
      return true;
    };
    if (job.node == node) {
      Order order{.attempt = {id, job.attempt},
                  .leave = job.state == JobState::leaving,
                  .joins = job.joins,
                  .hands_over = hands_over(job, nodes)};
      if (is_new(order, bytes_of(job.spec))) {
        order.spec = job.spec;
        order.owner = job.owner;
      }
      if (follows_nodes(job.spec) || (order.spec && job.spec.nodes > 1)) {
        order.hosts = hosts_of(job, nodes);
      }
      orders.push_back(std::move(order));
    }
    for (const auto& [number, part] : job.parts) {
      if (part.node != node || part.ended || !part.wanted) continue;
      Order order{.attempt = {id, job.attempt, number}};
      order.leave = is_to_leave(job, order.attempt, node, nodes);
      if (is_new(order, bytes_of(job.spec) + bytes_of(part.command) + part.input.size())) {
        order.spec = job.spec;
        order.owner = job.owner;
        order.spec->command = part.command;
        order.input = part.input;
      }
      if (outlives_first_node(job.spec) && !is_beside(order.attempt)) {
        order.hosts = hosts_of(job, nodes);
      }
      orders.push_back(std::move(order));
    }
  }
  return orders;
}

std::uint64_t mark_of_orders(const std::string& node, const JobTable& jobs, const Nodes& nodes) {
  struct Told {
    Attempt attempt;
    bool leaves = false, has_ended = false;
    std::vector<HostOfOrder> hosts = {};
    auto fields() { return std::tie(attempt, leaves, has_ended, hosts); }
  };
  std::vector<Told> all;
  for (const JobId id : jobs.on(node)) {
    const Job& job = jobs.all().at(id);
    if (!runs(job)) continue;
    const bool leads = job.node == node;
    if (leads) all.push_back({{id, job.attempt}, job.state == JobState::leaving, false});
    if (leads && follows_nodes(job.spec)) all.back().hosts = hosts_of(job, nodes);
    for (const auto& [number, part] : job.parts) {
      const Attempt attempt{id, job.attempt, number};
      if (part.node == node && !part.ended && part.wanted) {
        all.push_back({attempt, is_to_leave(job, attempt, node, nodes), false});
        const bool may_lead = outlives_first_node(job.spec) && !is_beside(attempt);
        if (may_lead) all.back().hosts = hosts_of(job, nodes);
      }
      if (part.asker == node && part.ended) all.push_back({attempt, false, true});
    }
  }
  const std::uint64_t mark = wire::checksum(wire::encode(all));
  return mark == 0 ? 1 : mark;
}

}  // namespace piracema::jobs
