#include "observe/status/job_status.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace piracema::observe {

namespace {

// Above this share of its time a node has no time left that would matter.
constexpr double busy_enough = 0.7;
constexpr double one_is_busy = 0.9;
// Sources may well have nothing for a while.
constexpr Time stands_still = std::chrono::seconds(10);

double share(Time part, const TimeSpent& spent) {
  const Time all = spent.all();
  return all.count() == 0 ? 0
                          : static_cast<double>(part.count()) / static_cast<double>(all.count());
}

std::string percent(double part) { return concat(std::lround(100 * part), " %"); }

// It says how far event time has come, and does not go by what others say.
bool gives_event_time(const JobStatus& status, std::uint32_t node) {
  return status.nodes[node].work.event_time &&
         std::none_of(status.edges.begin(), status.edges.end(), [&](const EdgeStatus& edge) {
           return edge.to == node && !edge.back && status.nodes[edge.from].work.event_time;
         });
}

// At the replica that is furthest behind; empty: nowhere.
std::string where_event_time_stands_still(const JobStatus& status) {
  const ReplicaStatus* last = nullptr;
  for (const ReplicaStatus& replica : status.replicas) {
    if (replica.ended || !gives_event_time(status, replica.node)) continue;
    if (last == nullptr || replica.work.event_time < last->work.event_time) last = &replica;
  }
  if (last == nullptr || last->event_time_still < stands_still) return "";
  const NodeStatus& node = status.nodes[last->node];
  return concat("event time stands still at ", node.name,
                node.replicas == 1 ? "" : concat("/", last->index), ": it has ",
                last->work.event_time ? "come no further for " : "given none for ",
                human_seconds(to_seconds(last->event_time_still)));
}

}  // namespace

TimeSpent& TimeSpent::operator+=(const TimeSpent& other) {
  busy += other.busy;
  blocked += other.blocked;
  idle += other.idle;
  return *this;
}

WorkStatus& WorkStatus::operator+=(const WorkStatus& other) {
  items_in += other.items_in;
  items_out += other.items_out;
  bytes_in += other.bytes_in;
  bytes_out += other.bytes_out;
  spent += other.spent;
  queued += other.queued;
  state_bytes += other.state_bytes;
  if (other.event_time) {
    event_time = std::min(event_time.value_or(*other.event_time), *other.event_time);
  }
  items_late += other.items_late;
  items_in_rate += other.items_in_rate;
  items_out_rate += other.items_out_rate;
  bytes_in_rate += other.bytes_in_rate;
  bytes_out_rate += other.bytes_out_rate;
  lately += other.lately;
  return *this;
}

double busy_share(const WorkStatus& work) { return share(work.lately.busy, work.lately); }
double blocked_share(const WorkStatus& work) { return share(work.lately.blocked, work.lately); }

void halve(std::vector<SampleStatus>& samples) {
  for (std::size_t i = 0; i + 1 < samples.size(); i += 2) {
    const SampleStatus &a = samples[i], &b = samples[i + 1];
    samples[i / 2] = {b.at, (a.in + b.in) / 2, (a.out + b.out) / 2, (a.busy + b.busy) / 2,
                      (a.blocked + b.blocked) / 2};
  }
  samples.resize(samples.size() / 2);
}

std::string bottleneck(const JobStatus& status) {
  if (status.over || !status.running || status.nodes.empty()) return "";
  const auto busiest = std::max_element(status.nodes.begin(), status.nodes.end(),
                                        [](const NodeStatus& a, const NodeStatus& b) {
                                          return busy_share(a.work) < busy_share(b.work);
                                        });
  if (busiest->work.lately.all().count() == 0) return "";
  const double busy = busy_share(busiest->work);
  if (busy >= busy_enough) {
    return concat(busiest->name, " holds the job back: ",
                  busiest->replicas == 1 ? "its only replica is"
                                         : concat("its ", busiest->replicas, " replicas are"),
                  " busy ", percent(busy), " of the time");
  }
  for (const NodeStatus& node : status.nodes) {
    if (node.replicas > 1 && node.busiest_share >= one_is_busy) {
      return concat(node.name, "/", node.busiest, " holds the job back: it is busy ",
                    percent(node.busiest_share), " of the time, all replicas of ", node.name, " ",
                    percent(busy_share(node.work)));
    }
  }
  if (auto where = where_event_time_stands_still(status); !where.empty()) return where;
  return concat("no node is busy all the time; the busiest is ", busiest->name, " with ",
                percent(busy));
}

}  // namespace piracema::observe
