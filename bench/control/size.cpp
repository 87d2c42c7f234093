// How a job's coordinator grows with its hosts. The coordinator is the real one, with its messages
// as they travel; the hosts are simulated: each answers as a worker does that has nothing to load
// and little to save. Time is virtual, but what the coordinator computes is measured, and passes in
// it.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "bench/common/arguments.h"
#include "bench/common/machine.h"
#include "bench/common/thread_time.h"
#include "control/coordinator/coordinator.h"
#include "control/messages/control.h"
#include "flow/plan.h"
#include "sim/scheduler.h"

using namespace piracema;
using namespace piracema::cluster;
using std::chrono::microseconds;
using std::chrono::seconds;

namespace {

struct Options {
  std::vector<std::uint32_t> hosts{10, 30, 100, 300, 1'000};
  std::uint32_t replicas_of_host = 10;
  /// Of the network interface of the coordinator's host.
  double gigabits = 10;
  bool json = false;
};

// Between two hosts.
constexpr Time latency = microseconds(100);
// A process is started, and knows its program.
constexpr Time start_takes = std::chrono::milliseconds(50);
constexpr Time restore_takes = std::chrono::milliseconds(5), save_takes = restore_takes;
constexpr Time store_takes = std::chrono::milliseconds(5);

/// What has passed through the coordinator.
struct Traffic {
  std::uint64_t messages_in = 0, messages_out = 0, bytes_in = 0, bytes_out = 0;
  /// Of its decisions, as a log keeps them.
  std::uint64_t bytes_decided = 0;
  Time computed{};

  Traffic operator-(const Traffic& since) const {
    return {messages_in - since.messages_in,     messages_out - since.messages_out,
            bytes_in - since.bytes_in,           bytes_out - since.bytes_out,
            bytes_decided - since.bytes_decided, computed - since.computed};
  }
};

std::uint64_t size_of(const wire::Frame& frame) {
  return wire::frame_header_bytes + frame.head.size() + frame.body.size();
}

/// A tenth of the replicas read, a tenth write, and the others work: each has a channel to each of
/// the next.
GraphShape shape_of(std::uint32_t replicas) {
  const std::uint32_t tenth = std::max(replicas / 10, 1u);
  GraphShape shape;
  shape.nodes = {{.name = "reader", .role = Role::source, .replicas = tenth},
                 {.name = "work", .replicas = replicas - 2 * tenth},
                 {.name = "writer", .role = Role::sink, .replicas = tenth}};
  shape.edges = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
  return shape;
}

class SimulatedJob {
 public:
  SimulatedJob(const Options& options, std::uint32_t hosts)
      : options_(options),
        program_(runtime::encode_shape(shape_of(hosts * options.replicas_of_host))),
        hosts_(hosts) {
    JobSettings settings;
    settings.slots = hosts;
    settings.snapshots = true;
    coordinator_ = std::make_unique<Coordinator>(settings);
  }

  /// Until all replicas run.
  Time start() {
    hear(Tick{});
    const Time began = scheduler_.now();
    ENSURE(scheduler_.run_until([this] { return running_; }, seconds(600)));
    return scheduler_.now() - began;
  }

  /// Lets time pass.
  void go_on(Time time) { scheduler_.run_until(scheduler_.now() + time); }

  struct Recovery {
    Time noticed_after{}, ran_again_after{};
  };
  /// Nothing is heard of the host any more.
  Recovery lose_host(Slot slot) {
    const Time lost = scheduler_.now();
    hosts_[slot].lives = false;
    noticed_.reset();
    ENSURE(scheduler_.run_until([this] { return noticed_.has_value(); }, lost + seconds(60)));
    ENSURE(scheduler_.run_until([this] { return running_; }, lost + seconds(600)));
    ENSURE(taken_for_lost_ == 1);
    return {*noticed_ - lost, scheduler_.now() - *noticed_};
  }

  const Traffic& traffic() const { return traffic_; }
  std::uint64_t channels() const {
    std::uint64_t channels = 0;
    for (const auto& edge : coordinator_->job()->shape.edges) {
      channels += std::uint64_t{coordinator_->job()->shape.nodes[edge.from].replicas} *
                  coordinator_->job()->shape.nodes[edge.to].replicas;
    }
    return channels;
  }

 private:
  struct Host {
    std::uint32_t incarnation = 0;
    bool lives = false;
    Epoch epoch = 0;
    SnapshotId saved = 0;
    std::vector<ReplicaId> replicas;
  };

  // ---- the coordinator's thread -------------------------------------------------------------

  // It does one thing after the other, and reads a message when it is its turn.
  void hear(std::function<Event()> read) {
    inbox_.push_back(std::move(read));
    if (inbox_.size() == 1) plan_work();
  }
  void hear(Event event) {
    hear([event = std::move(event)] { return event; });
  }
  void plan_work() {
    scheduler_.at(std::max(free_at_, scheduler_.now()), [this] { work(); });
  }

  void work() {
    const Time began = bench::thread_time();
    auto actions = coordinator_->step(scheduler_.now(), inbox_.front()());
    std::vector<wire::Frame> frames;
    for (const Action& action : actions) {
      if (const auto* send = std::get_if<Send>(&action)) {
        frames.push_back(runtime::to_frame(send->message));
      }
    }
    const auto deadline = coordinator_->next_deadline();
    const Time took = bench::thread_time() - began;
    traffic_.computed += took;
    free_at_ = scheduler_.now() + took;

    auto frame = frames.begin();
    for (const Action& action : actions) {
      if (const auto* send = std::get_if<Send>(&action)) {
        deliver(*send, *frame++);
      } else {
        std::visit([this](const auto& what) { act(what); }, action);
      }
    }
    inbox_.pop_front();
    if (!inbox_.empty()) return plan_work();
    if (deadline) plan_tick(*deadline);
  }

  // What has arrived by then comes first.
  void plan_tick(Time deadline) {
    scheduler_.at(std::max(deadline, free_at_), [this, tick = ++tick_] {
      if (tick == tick_) hear(Tick{});
    });
  }

  // One message after the other leaves the host.
  void deliver(const Send& send, const wire::Frame& frame) {
    traffic_.messages_out += 1;
    traffic_.bytes_out += size_of(frame);
    const auto bits = static_cast<double>(8 * size_of(frame));
    const auto takes =
        std::chrono::nanoseconds(static_cast<std::int64_t>(bits / options_.gigabits));
    link_free_at_ = std::max(link_free_at_, free_at_) + takes;
    scheduler_.at(link_free_at_ + latency, [this, send] {
      Host& host = hosts_[send.slot];
      if (!host.lives || host.incarnation != send.incarnation) return;
      std::visit([&](const auto& message) { receive(send.slot, host, message); }, send.message);
    });
  }

  // ---- its hands ----------------------------------------------------------------------------

  void act(const Spawn& spawn) {
    scheduler_.at(free_at_ + start_takes, [this, spawn] {
      hosts_[spawn.slot] = {.incarnation = spawn.incarnation, .lives = true};
      hear(Joined{spawn.slot, spawn.incarnation, "10.0.0.1:40000", program_});
      beat(spawn.slot, spawn.incarnation);
    });
  }
  void act(const FindSnapshot&) { after_store(SnapshotFound{}); }
  void act(const CommitSnapshot& commit) {
    after_store(SnapshotCommitted{commit.manifest.snapshot});
  }
  void act(const Tell& tell) {
    if (std::holds_alternative<Running>(tell.note)) running_ = true;
    if (!std::holds_alternative<Lost>(tell.note)) return;
    running_ = false;
    noticed_ = scheduler_.now();
    taken_for_lost_ += 1;
  }
  void act(const Decide& decide) {
    traffic_.bytes_decided += encode_decisions(decide.decisions).size();
  }
  void act(const Finish& finish) { ENSURE(finish.code == 0); }
  // A host that is lost answers to no Kill.
  void act(const Kill&) {}
  void act(const DropSnapshot&) {}
  void act(const NameSnapshot&) {}
  void act(const AnswerRequest&) {}
  void act(const Send&) {}

  void after_store(Event event) {
    scheduler_.at(free_at_ + store_takes, [this, event] { hear(event); });
  }

  // ---- a host -------------------------------------------------------------------------------

  void say_after(Time delay, Slot slot, runtime::FromWorker message) {
    const std::uint32_t incarnation = hosts_[slot].incarnation;
    scheduler_.after(delay + latency, [this, slot, incarnation, message = std::move(message)] {
      if (!hosts_[slot].lives || hosts_[slot].incarnation != incarnation) return;
      const auto frame = runtime::to_frame(message);
      traffic_.messages_in += 1;
      traffic_.bytes_in += size_of(frame);
      hear([slot, incarnation, frame]() -> Event {
        return Said{slot, incarnation, *runtime::from_worker(frame)};
      });
    });
  }

  void beat(Slot slot, std::uint32_t incarnation) {
    const Host& host = hosts_[slot];
    if (!host.lives || host.incarnation != incarnation) return;
    runtime::Heartbeat heartbeat{host.epoch, 0, {}};
    for (const ReplicaId replica : host.replicas)
      heartbeat.progress.push_back({.replica = replica});
    say_after(Time{}, slot, std::move(heartbeat));
    const Time interval = JobSettings{}.heartbeat_interval;
    scheduler_.after(scheduler_.between(interval * 9 / 10, interval),
                     [this, slot, incarnation] { beat(slot, incarnation); });
  }

  void receive(Slot slot, Host& host, const runtime::Deploy& deploy) {
    host.epoch = deploy.epoch;
    host.replicas.clear();
    for (ReplicaId replica = 0; replica < deploy.placement.size(); ++replica) {
      if (deploy.placement[replica] == slot) host.replicas.push_back(replica);
    }
    say_after(restore_takes, slot, runtime::Ready{deploy.epoch});
  }
  // Barriers reach the other hosts with the stream.
  void receive(Slot, Host&, const runtime::Trigger& trigger) {
    for (Slot slot = 0; slot < hosts_.size(); ++slot) {
      Host& host = hosts_[slot];
      if (!host.lives || host.epoch != trigger.epoch || host.saved >= trigger.snapshot) continue;
      host.saved = trigger.snapshot;
      for (const ReplicaId replica : host.replicas) {
        say_after(save_takes, slot,
                  runtime::Saved{trigger.epoch, trigger.snapshot, replica, 100, 1});
      }
    }
  }
  void receive(Slot slot, Host&, const runtime::Commit& commit) {
    for (const ReplicaId replica : commit.replicas) {
      say_after(Time{}, slot, runtime::Committed{commit.epoch, commit.snapshot, replica});
    }
  }
  void receive(Slot, Host&, const runtime::Shutdown&) {}
  void receive(Slot, Host&, const runtime::Attach&) {}
  void receive(Slot, Host&, const runtime::StillHere&) {}
  void receive(Slot, Host&, const runtime::BroadcastTrees&) {}
  void receive(Slot slot, Host&, const runtime::ReadAhead& ahead) {
    say_after(restore_takes, slot, runtime::HasReadAhead{ahead.epoch, ahead.snapshot});
  }

  const Options& options_;
  const std::string program_;
  sim::Scheduler scheduler_{1};
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<Host> hosts_;
  std::deque<std::function<Event()>> inbox_;
  Traffic traffic_;
  Time free_at_{}, link_free_at_{};
  std::uint64_t tick_ = 0;
  bool running_ = false;
  std::optional<Time> noticed_;
  std::uint32_t taken_for_lost_ = 0;
};

/// How long a worker takes to plan the channels of its own replicas, and those of all replicas.
std::pair<Time, Time> plan_takes(std::uint32_t replicas, std::uint32_t own) {
  const GraphShape shape = shape_of(replicas);
  const Time began = bench::thread_time();
  const auto part = flow::make_plan(
      shape, [&](std::uint32_t replica) { return replica % (replicas / own) == 0; });
  const Time between = bench::thread_time();
  const auto whole = flow::make_plan(shape);
  ENSURE(part.replicas.size() == whole.replicas.size());
  return {between - began, bench::thread_time() - between};
}

nlohmann::json measure(const Options& options, std::uint32_t hosts) {
  const auto [own_plan, whole_plan] =
      plan_takes(hosts * options.replicas_of_host, options.replicas_of_host);
  SimulatedJob job(options, hosts);
  const Time started = job.start();
  const Traffic start = job.traffic();
  job.go_on(seconds(3));

  const auto lasts = seconds(10);
  const Traffic before = job.traffic();
  job.go_on(lasts);
  const Traffic steady = job.traffic() - before;

  const Traffic at_loss = job.traffic();
  const auto recovery = job.lose_host(hosts / 2);
  const Traffic lost = job.traffic() - at_loss;
  const auto a_second = [&](std::uint64_t number) { return static_cast<double>(number) / 10; };
  return {{"hosts", hosts},
          {"replicas", hosts * options.replicas_of_host},
          {"channels", job.channels()},
          {"own_plan_ms", bench::milliseconds_of(own_plan)},
          {"whole_plan_ms", bench::milliseconds_of(whole_plan)},
          {"start_ms", bench::milliseconds_of(started)},
          {"start_computed_ms", bench::milliseconds_of(start.computed)},
          {"start_bytes_out", start.bytes_out},
          {"messages_in_a_second", a_second(steady.messages_in)},
          {"messages_out_a_second", a_second(steady.messages_out)},
          {"bytes_in_a_second", a_second(steady.bytes_in)},
          {"bytes_out_a_second", a_second(steady.bytes_out)},
          {"bytes_decided_a_second", a_second(steady.bytes_decided)},
          {"of_a_core", bench::milliseconds_of(steady.computed) / bench::milliseconds_of(lasts)},
          {"noticed_ms", bench::milliseconds_of(recovery.noticed_after)},
          {"recovered_ms", bench::milliseconds_of(recovery.ran_again_after)},
          {"recovery_computed_ms", bench::milliseconds_of(lost.computed)},
          {"recovery_bytes_out", lost.bytes_out}};
}

void print_head() {
  std::printf("%6s %9s %12s | %9s %9s | %9s %9s | %10s %10s %8s %7s | %9s %9s %9s\n", "hosts",
              "replicas", "channels", "own plan", "whole", "start", "sent", "messages/s", "bytes/s",
              "log/s", "a core", "noticed", "recovered", "sent");
}

void print(const nlohmann::json& row) {
  const auto number = [&](const char* name) { return row.at(name).get<double>(); };
  std::printf(
      "%6.0f %9.0f %12.0f | %6.1f ms %6.1f ms | %6.0f ms %6.1f MB | %10.0f %7.2f MB %5.0f kB %5.1f "
      "%% | "
      "%6.0f ms %6.0f ms %6.1f MB\n",
      number("hosts"), number("replicas"), number("channels"), number("own_plan_ms"),
      number("whole_plan_ms"), number("start_ms"), number("start_bytes_out") / 1e6,
      number("messages_in_a_second") + number("messages_out_a_second"),
      (number("bytes_in_a_second") + number("bytes_out_a_second")) / 1e6,
      number("bytes_decided_a_second") / 1e3, 100 * number("of_a_core"), number("noticed_ms"),
      number("recovered_ms"), number("recovery_bytes_out") / 1e6);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bench::Arguments arguments("How much a job's coordinator has to do, by the number of its hosts.");
  arguments.numbers("--hosts", options.hosts, "Sizes of the job", {1, 10'000});
  arguments.number("--replicas", options.replicas_of_host, "Replicas on a host", {3, 1'000});
  arguments.number("--gigabits", options.gigabits,
                   "A second, of the link of the coordinator's host", {0.01, 1'000.0});
  arguments.flag("--json", options.json, "One JSON object in place of the table");
  if (const auto code = arguments.parse(argc, argv)) return *code;
  nlohmann::json sizes = nlohmann::json::array();
  if (!options.json) print_head();
  for (const std::uint32_t hosts : options.hosts) {
    sizes.push_back(measure(options, hosts));
    if (!options.json) print(sizes.back());
  }
  if (options.json) {
    const nlohmann::json all{{"machine", bench::to_text(bench::this_machine())}, {"sizes", sizes}};
    std::printf("%s\n", all.dump(1).c_str());
  }
  return 0;
}
