// How fast the ordering core is alone: replicas in one thread, messages that take no time, a log
// that takes none, cryptography that takes none, and a service without a state. Messages of a batch
// count once.
//
//   bench_smr_core [--byzantine] [--requests N] [--outstanding N] [--bytes N] [--batch N]

#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <vector>

#include "base/ensure.h"
#include "bench/common/arguments.h"
#include "smr/order/core/core.h"
#include "smr/order/transfer/checkpoint.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

class NoKeys : public Authenticator {
 public:
  bool verify(const Request&) const override { return true; }
  Buffer sign(Bytes) const override { return Buffer(as_bytes("signature")); }
  bool verify(ReplicaId, Bytes, Bytes) const override { return true; }
};

struct Options {
  bool byzantine = false;
  std::uint64_t requests = 300'000;
  std::uint64_t outstanding = 100;
  std::size_t bytes = 0;
  std::size_t batch = 1'024;
};

struct InFlight {
  ReplicaId from, to;
  MessagePtr message;
};

class Group {
 public:
  explicit Group(const Options& options) : options_(options) {
    View view{.model = options.byzantine ? FaultModel::byzantine : FaultModel::crash};
    const std::uint32_t n = options.byzantine ? 4 : 3;
    for (ReplicaId id = 0; id < n; ++id) view.members.push_back({id, std::to_string(id), ""});
    Settings settings;
    settings.batch_requests = options.batch;
    for (ReplicaId id = 0; id < n; ++id) {
      cores_.push_back(std::make_unique<Core>(settings, id, keys_, Recovered{.view = view}));
      tell(id, Tick{});
    }
  }

  // Each client has one request outstanding and asks again when replica 0 has executed it. False if
  // the group stands still before it is done.
  bool run() {
    for (ClientId client = 1; client <= options_.outstanding; ++client) submit(client);
    while (executed_ < options_.requests) {
      if (network_.empty()) {
        if (now_ > executed_at_ + patience) return false;
        for (ReplicaId id = 0; id < cores_.size(); ++id) {
          const auto deadline = cores_[id]->next_deadline();
          if (deadline && *deadline <= now_) tell(id, Tick{});
        }
        now_ += Time{1'000};
        continue;
      }
      const InFlight next = std::move(network_.front());
      network_.pop_front();
      messages_ += 1;
      tell(next.to, Received{next.from, next.message});
    }
    return true;
  }

  std::uint64_t messages() const { return messages_; }
  std::uint64_t executed() const { return executed_; }
  Instance instances() const { return cores_[0]->decided(); }
  Regency regency() const { return cores_[0]->regency(); }

 private:
  void submit(ClientId client) {
    Request request{.client = client, .session = 1};
    if (sequences_.size() <= client) sequences_.resize(client + 1);
    request.sequence = ++sequences_[client];
    request.operation.resize(options_.bytes);
    for (ReplicaId id = 0; id < cores_.size(); ++id) tell(id, Submitted{request});
  }

  void tell(ReplicaId id, Event event) {
    std::vector<Action> actions;
    if (!spare_.empty()) {
      actions = std::move(spare_.back());
      spare_.pop_back();
      actions.clear();
    }
    cores_[id]->step(now_, std::move(event), actions);
    for (Action& action : actions) {
      if (auto* send = std::get_if<Send>(&action)) {
        network_.push_back({id, send->to, std::move(send->message)});
      } else if (auto* execute = std::get_if<Execute>(&action)) {
        tell(id, Executed{execute->instance});
        if (id != 0) continue;
        executed_ += execute->batch->requests.size();
        executed_at_ = now_;
        for (const Request& request : execute->batch->requests) submit(request.client);
      } else if (const auto* take = std::get_if<TakeCheckpoint>(&action)) {
        // Who takes none stands still when a few are due (unstable_checkpoints_max).
        if (take->wanted) tell(id, taken(take->instance));
      } else {
        ENSURE(!std::holds_alternative<Halt>(action));
      }
    }
    spare_.push_back(std::move(actions));
  }

  static CheckpointTaken taken(Instance instance) {
    const Checkpoint nothing = make_checkpoint(instance, 0, {}, chunk_bytes_max);
    return {nothing.info, nothing.digests};
  }

  /// Of the group's own time: longer than anything that it waits for.
  static constexpr Time patience = std::chrono::seconds(10);

  const Options options_;
  NoKeys keys_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::deque<InFlight> network_;
  std::vector<std::vector<Action>> spare_;
  std::vector<Sequence> sequences_;
  Time now_{1}, executed_at_{};
  std::uint64_t messages_ = 0, executed_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  bench::Arguments arguments{"The ordering core of smr alone"};
  Options options;
  arguments.flag("--byzantine", options.byzantine, "four replicas instead of three");
  arguments.number("--requests", options.requests, "to be executed");
  arguments.number("--outstanding", options.outstanding, "clients, one request each");
  arguments.number("--bytes", options.bytes, "of one operation");
  arguments.number("--batch", options.batch, "requests in a batch at most");
  if (const auto code = arguments.parse(argc, argv)) return *code;

  Group group(options);
  const auto begin = std::chrono::steady_clock::now();
  const bool done = group.run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (!done) {
    std::fprintf(stderr, "the group stands still after %llu requests\n",
                 static_cast<unsigned long long>(group.executed()));
    return 1;
  }
  std::printf(
      "%s: %.0f k requests/s, %.0f k messages/s, %.2f us a request in all replicas, "
      "%.1f requests a batch, regency %u\n",
      options.byzantine ? "byzantine n=4" : "crash n=3",
      static_cast<double>(group.executed()) / took.count() / 1e3,
      static_cast<double>(group.messages()) / took.count() / 1e3,
      took.count() * 1e6 / static_cast<double>(group.executed()),
      static_cast<double>(group.executed()) / static_cast<double>(group.instances()),
      group.regency());
  return 0;
}
