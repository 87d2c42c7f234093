// How the control plane of a cluster grows with its nodes: one replica of the real state machine,
// with what nodes and it say as it travels, the reads that it holds, and the real machines of the
// nodes. Processes of jobs are not there, and the group that puts operations into an order is not
// measured. Time is virtual, but what the replica computes is measured, and passes in it.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/text.h"
#include "bench/common/arguments.h"
#include "bench/common/machine.h"
#include "bench/common/thread_time.h"
#include "jobs/local/job_runner.h"
#include "jobs/protocol/testing.h"
#include "jobs/state/cluster_state.h"
#include "sim/scheduler.h"
#include "smr/replica/held_reads.h"

using namespace piracema;
using namespace piracema::jobs;
using bench::milliseconds_of;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

struct Options {
  std::vector<std::uint32_t> nodes{10, 30, 100, 300, 1'000};
  std::uint32_t nodes_of_job = 10;
  bool json = false;
};

// From a node to the operation's place in the order, and back.
constexpr Time way = milliseconds(1);

struct Traffic {
  std::uint64_t operations = 0, looks = 0, bytes = 0;
  Time computed{}, looked{};

  Traffic operator-(const Traffic& since) const {
    return {operations - since.operations, looks - since.looks, bytes - since.bytes,
            computed - since.computed, looked - since.looked};
  }
};

/// A replica of the control plane, which does one thing after the other.
class Replica {
 public:
  explicit Replica(sim::Scheduler& scheduler) : scheduler_(scheduler) { wake(); }

  void execute(const Operation& operation, std::function<void(const Answer&)> answered) {
    Buffer bytes = encode(operation);
    traffic_.bytes += bytes.size();
    when_free([this, bytes = std::move(bytes), client = jobs::testing::honest_client(operation),
               answered = std::move(answered)] {
      const Time began = bench::thread_time();
      const Buffer reply = state_.apply(bytes, {.time = time(), .client = client});
      const Time took = bench::thread_time() - began;
      traffic_.operations += 1;
      traffic_.bytes += reply.size();
      traffic_.computed += took;
      free_at_ = scheduler_.now() + took;
      held_.executed();
      answer(reply, answered);
    });
  }

  void hold(const Operation& question, std::function<void(const Answer&)> answered) {
    const std::uint64_t token = ++tokens_;
    Buffer bytes = encode(question);
    traffic_.bytes += bytes.size();
    when_free([this, token, bytes = std::move(bytes), answered = std::move(answered)]() mutable {
      held_.add(token, std::move(bytes), scheduler_.now());
      waiting_[token] = std::move(answered);
    });
  }

  const ClusterState& state() const { return state_; }
  const Traffic& traffic() const { return traffic_; }

 private:
  std::uint64_t time() const {
    return static_cast<std::uint64_t>((scheduler_.now() + seconds(1'000'000)).count());
  }

  void when_free(std::function<void()> work) {
    inbox_.push_back(std::move(work));
    if (inbox_.size() == 1) plan();
  }
  void plan() {
    scheduler_.at(std::max(free_at_, scheduler_.now()), [this] {
      inbox_.front()();
      inbox_.pop_front();
      if (!inbox_.empty()) plan();
    });
  }

  void answer(const Buffer& reply, const std::function<void(const Answer&)>& answered) {
    auto decoded = decode_answer(reply);
    ENSURE(decoded.ok());
    scheduler_.at(free_at_ + way, [answered, answer = *std::move(decoded)] { answered(answer); });
  }

  // As the thread of a replica does (ReplicaNode).
  void wake() {
    scheduler_.after(milliseconds(5), [this] { wake(); });
    if (!inbox_.empty()) return;
    if (state_.next_deadline() && *state_.next_deadline() <= time()) {
      when_free([this] {
        const Time began = bench::thread_time();
        state_.on_time({.time = time()});
        const Time took = bench::thread_time() - began;
        traffic_.computed += took;
        free_at_ = scheduler_.now() + took;
        held_.executed();
      });
    }
    when_free([this] { look(); });
  }

  void look() {
    const Time now = scheduler_.now();
    const auto due = held_.due(now);
    if (due.empty()) return;
    const Time began = bench::thread_time();
    std::vector<std::pair<std::uint64_t, Buffer>> told;
    for (const std::uint64_t token : due) {
      Buffer reply = state_.query(held_.operation(token));
      if (held_.told(token, reply, now)) told.emplace_back(token, std::move(reply));
    }
    const Time took = bench::thread_time() - began;
    held_.asked(now, now + took);
    traffic_.looks += due.size();
    traffic_.looked += took;
    free_at_ = now + took;
    for (const auto& [token, reply] : told) {
      traffic_.bytes += reply.size();
      answer(reply, waiting_.extract(token).mapped());
    }
  }

  sim::Scheduler& scheduler_;
  ClusterState state_;
  smr::HeldReads held_{&state_};
  std::deque<std::function<void()>> inbox_;
  std::map<std::uint64_t, std::function<void(const Answer&)>> waiting_;
  std::uint64_t tokens_ = 0;
  Time free_at_{};
  Traffic traffic_;
};

/// A node, but for the processes of its jobs: they run for ever.
class SimulatedNode {
 public:
  SimulatedNode(sim::Scheduler& scheduler, Replica& replica, std::string name)
      : scheduler_(scheduler),
        replica_(replica),
        runner_({.node = name,
                 .incarnation = 1,
                 .slots = 8,
                 .directory = "/var/lib/node",
                 .address = concat(name, ".example.org")}),
        name_(std::move(name)) {
    // They were not started at one moment.
    scheduler_.after(scheduler_.between({}, milliseconds(500)),
                     [this] { deliver(JobRunner::Began{}); });
  }

  void lose() { lives_ = false; }
  const std::string& name() const { return name_; }
  /// Commands and parts that it has begun, and when the last one was.
  std::uint32_t begun() const { return begun_; }
  Time last_begun() const { return last_begun_; }

 private:
  void deliver(const JobRunner::Event& event) {
    if (!lives_) return;
    for (const auto& action : runner_.step(scheduler_.now(), event)) {
      std::visit([this](const auto& what) { act(what); }, action);
    }
    const auto next = runner_.next_deadline();
    if (!next) return;
    scheduler_.at(std::max(*next, scheduler_.now() + milliseconds(1)), [this, turn = ++turn_] {
      if (turn == turn_) deliver(JobRunner::Woken{});
    });
  }

  void act(const JobRunner::Ask& ask) {
    scheduler_.after(way, [this, ask] {
      replica_.execute(ask.operation, [this, number = ask.question](const Answer& answer) {
        deliver(JobRunner::Answered{number, answer});
      });
    });
  }
  void act(const JobRunner::Await& await) {
    scheduler_.after(way, [this, await] {
      replica_.hold(await.operation, [this, number = await.question](const Answer& answer) {
        deliver(JobRunner::Awaited{number, answer});
      });
    });
  }
  // Its command has a part run on each of the other nodes, as a stream has its agents.
  void act(const JobRunner::Launch& launch) {
    begun_ += 1;
    last_begun_ = scheduler_.now();
    if (launch.attempt.part != 0) return;
    for (std::uint32_t host = 1; host < launch.hosts.size(); ++host) {
      AskedPart part{{launch.attempt.job, launch.attempt.attempt, host},
                     launch.hosts[host].name,
                     {"piracema", "agent"},
                     "a line"};
      scheduler_.after(milliseconds(1), [this, part] { deliver(JobRunner::PartAsked{part}); });
    }
  }
  void act(const JobRunner::Leaves&) {}
  // None of its machines is lent.
  void act(const JobRunner::Suspend&) {}
  void act(const JobRunner::Resume&) {}
  void act(const JobRunner::Terminate& end) {
    scheduler_.after(milliseconds(1), [this, attempt = end.attempt] {
      deliver(JobRunner::Over{{attempt, End::exited, 143, "killed by signal 15"}});
    });
  }
  void act(const JobRunner::HostsChanged&) {}
  void act(const JobRunner::PartOver&) {}
  void act(const JobRunner::Extend&) {}
  void act(const JobRunner::Tell&) {}
  void act(const JobRunner::Finish&) {}

  sim::Scheduler& scheduler_;
  Replica& replica_;
  JobRunner runner_;
  const std::string name_;
  bool lives_ = true;
  std::uint64_t turn_ = 0;
  std::uint32_t begun_ = 0;
  Time last_begun_{};
};

nlohmann::json measure(const Options& options, std::uint32_t count) {
  sim::Scheduler scheduler(1);
  Replica replica(scheduler);
  std::vector<std::unique_ptr<SimulatedNode>> nodes;
  for (std::uint32_t node = 0; node < count; ++node) {
    nodes.push_back(std::make_unique<SimulatedNode>(scheduler, replica, concat("node", node)));
  }
  const auto go_on = [&](Time time) { scheduler.run_until(scheduler.now() + time); };
  go_on(seconds(3));
  ENSURE(replica.state().nodes().size() == count);

  // All at once, and the cluster is full of them.
  const Time submitted = scheduler.now();
  const std::uint32_t jobs = count / options.nodes_of_job;
  for (std::uint32_t job = 0; job < jobs; ++job) {
    const JobSpec spec{.name = "stream",
                       .command = {"piracema", "run", "./app"},
                       .environment = {},
                       .directory = "",
                       .nodes = options.nodes_of_job,
                       .slots = 8};
    replica.execute(Submit{spec},
                    [](const Answer& answer) { ENSURE(answer.verdict == Answer::Verdict::done); });
  }
  const auto last_begun = [&] {
    Time last{};
    for (const auto& node : nodes) last = std::max(last, node->last_begun());
    return last;
  };
  go_on(seconds(20));
  const Time all_begun = last_begun() - submitted;

  const Time lasts = seconds(10);
  const Traffic before = replica.traffic();
  go_on(lasts);
  const Traffic steady = replica.traffic() - before;

  // Half of the nodes of the first job have no use for another one of its size: it waits, and that
  // is when the cluster looks for places.
  replica.execute(Submit{{.name = "waits",
                          .command = {"true"},
                          .environment = {},
                          .directory = "",
                          .nodes = options.nodes_of_job,
                          .slots = 8}},
                  [](const Answer&) {});
  const Traffic at_waiting = replica.traffic();
  go_on(lasts);
  const Traffic waiting = replica.traffic() - at_waiting;

  std::uint32_t begun = 0;
  for (const auto& node : nodes) begun += node->begun();
  ENSURE(begun == jobs * options.nodes_of_job);
  const double duration = milliseconds_of(lasts);
  return {
      {"nodes", count},
      {"jobs", jobs},
      {"all_begun_ms", milliseconds_of(all_begun)},
      {"operations_a_second", static_cast<double>(steady.operations) / 10},
      {"bytes_a_second", static_cast<double>(steady.bytes) / 10},
      {"looks_a_second", static_cast<double>(steady.looks) / 10},
      {"operations_of_a_core", milliseconds_of(steady.computed) / duration},
      {"looks_of_a_core", milliseconds_of(steady.looked) / duration},
      {"of_a_core", milliseconds_of(steady.computed + steady.looked) / duration},
      {"of_a_core_if_one_waits", milliseconds_of(waiting.computed + waiting.looked) / duration}};
}

void print_head() {
  std::printf("%6s %6s | %10s | %12s %10s %10s | %9s %9s %9s | %9s\n", "nodes", "jobs", "all begun",
              "operations/s", "looks/s", "bytes/s", "operations", "looks", "a core", "one waits");
}

void print(const nlohmann::json& row) {
  const auto number = [&](const char* name) { return row.at(name).get<double>(); };
  std::printf(
      "%6.0f %6.0f | %7.0f ms | %12.0f %10.0f %7.2f MB | %8.2f%% %8.2f%% %8.2f%% | %8.2f%%\n",
      number("nodes"), number("jobs"), number("all_begun_ms"), number("operations_a_second"),
      number("looks_a_second"), number("bytes_a_second") / 1e6,
      100 * number("operations_of_a_core"), 100 * number("looks_of_a_core"),
      100 * number("of_a_core"), 100 * number("of_a_core_if_one_waits"));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bench::Arguments arguments(
      "How much the control plane of a cluster has to do, by the number of its nodes.");
  arguments.numbers("--nodes", options.nodes, "Sizes of the cluster",
                    {1u, static_cast<unsigned>(ClusterState::nodes_max)});
  arguments.number("--nodes-of-job", options.nodes_of_job, "Nodes that a job has", {1, 1'000});
  arguments.flag("--json", options.json, "One JSON object in place of the table");
  if (const auto code = arguments.parse(argc, argv)) return *code;
  if (std::ranges::min(options.nodes) < options.nodes_of_job) {
    std::fprintf(stderr, "bench_jobs_size: want at least the %u nodes of a job, found %u\n",
                 options.nodes_of_job, std::ranges::min(options.nodes));
    return 2;
  }
  nlohmann::json sizes = nlohmann::json::array();
  if (!options.json) print_head();
  for (const std::uint32_t nodes : options.nodes) {
    sizes.push_back(measure(options, nodes));
    if (!options.json) print(sizes.back());
  }
  if (options.json) {
    const nlohmann::json all{{"machine", bench::to_text(bench::this_machine())}, {"sizes", sizes}};
    std::printf("%s\n", all.dump(1).c_str());
  }
  return 0;
}
