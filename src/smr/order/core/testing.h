#pragma once

#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "smr/order/core/core.h"
#include "smr/order/messages/batch.h"
#include "smr/order/messages/digest.h"
#include "smr/order/transfer/checkpoint.h"
#include "smr/order/views/reconfiguration.h"
#include "smr/testing.h"

/// What the tests of the core share: replicas, and messages between them that arrive at once and
/// in order unless the test says otherwise.
namespace piracema::smr {

/// Signatures that anybody could forge and nobody does, and proofs of origin that list the replicas
/// whom they convince; an empty one convinces all.
class TestAuthenticator : public Authenticator {
 public:
  explicit TestAuthenticator(ReplicaId me) : me_(me) {}
  bool verify(const Request& request) const override {
    if (request.proof.empty()) return true;
    return as_text(request.proof).find(std::to_string(me_)) != std::string::npos;
  }
  Buffer sign(Bytes what) const override { return signature(me_, what); }
  bool verify(ReplicaId signer, Bytes what, Bytes bytes) const override {
    return as_text(signature(signer, what)) == as_text(bytes);
  }
  static Buffer signature(ReplicaId signer, Bytes what) {
    const Digest digest = digest_of(what);
    Buffer out(as_bytes(std::to_string(signer)));
    out.append(digest.data(), digest.size());
    return out;
  }

 private:
  ReplicaId me_;
};

inline Request operation(ClientId client, Sequence sequence, std::string_view text,
                         std::string_view proof = {}) {
  return {client, 1, sequence, Kind::ordered, 0, Buffer(as_bytes(text)), Buffer(as_bytes(proof))};
}

constexpr FaultModel both_models[] = {FaultModel::crash, FaultModel::byzantine};
/// As few as bear one fault.
inline std::uint32_t members_of(FaultModel model) { return model == FaultModel::crash ? 3 : 4; }

inline Settings one_request_a_batch(Instance checkpoint_interval = 4'096) {
  Settings settings;
  settings.batch_requests = 1;
  settings.checkpoint_interval = checkpoint_interval;
  return settings;
}

inline Request change_of_view(Sequence sequence, ViewChange change) {
  Request request = operation(99, sequence, "");
  request.kind = Kind::reconfigure;
  request.operation = encode(std::move(change));
  return request;
}

class TestCluster {
 public:
  struct Replica {
    std::unique_ptr<TestAuthenticator> auth;
    std::unique_ptr<Core> core;
    std::vector<LogRecord> log;
    /// Operations, in the order of execution; a batch without any is "-".
    std::vector<std::string> executed;
    std::vector<Instance> times;
    std::vector<ReadNow> reads;
    std::vector<std::uint64_t> refused;
    std::vector<std::string> notes;
    std::string halted;
    Instance instance = 0;
    /// Of a service whose state is what it has executed, in pieces of a few bytes.
    std::map<Instance, std::vector<Buffer>> checkpoints;
    std::map<Instance, CheckpointInfo> infos;
    std::map<std::uint32_t, Buffer> received;
    std::vector<View> views;
    bool slow_service = false;
    /// Of the service: over when a batch has come that is as late.
    std::optional<std::uint64_t> timer;
  };

  TestCluster(FaultModel model, std::uint32_t n, Settings with = {})
      : settings(with), view(test_view(model, n)), replicas(n) {
    for (ReplicaId id = 0; id < n; ++id) start(id);
  }

  void start(ReplicaId id, bool amnesia = false) {
    Replica& replica = replicas[id];
    replica.auth = std::make_unique<TestAuthenticator>(id);
    Recovered recovered{.view = view, .amnesia = amnesia, .nonce = ++nonce};
    recovered.log = replica.log;
    for (auto other = view.n(); other < replicas.size(); ++other)
      recovered.added.push_back(static_cast<ReplicaId>(other));
    replica.executed.clear();
    replica.instance = 0;
    for (const LogRecord& record : replica.log) {
      const auto* stable = std::get_if<CheckpointStable>(&record);
      if (!stable || !replica.checkpoints.contains(stable->proof.checkpoint.instance)) continue;
      recovered.checkpoint = stable->proof.checkpoint;
      recovered.chunks = digests(replica.checkpoints.at(recovered.checkpoint->instance));
      restore(replica, recovered.checkpoint->instance);
    }
    replica.core = std::make_unique<Core>(settings, id, *replica.auth, std::move(recovered));
    tell(id, Tick{});
  }
  void crash(ReplicaId id) { replicas[id].core.reset(); }
  void lose_disk(ReplicaId id) {
    crash(id);
    replicas[id] = Replica{};
  }
  /// As a kernel tells the others when a process dies.
  void kill(ReplicaId id) {
    crash(id);
    for (ReplicaId other = 0; other < replicas.size(); ++other) {
      if (other != id) tell(other, LinkLost{id});
    }
  }

  void tell(ReplicaId id, Event event) {
    if (id >= replicas.size() || !replicas[id].core) return;
    Replica& replica = replicas[id];
    std::vector<Action> actions;
    replica.core->step(now, std::move(event), actions);
    for (Action& action : actions) do_action(id, replica, action);
  }
  /// To all replicas, as clients do.
  void submit(const Request& request) {
    for (ReplicaId id = 0; id < replicas.size(); ++id) tell(id, Submitted{request});
  }
  void submit_some(ClientId client, Sequence first, Sequence last) {
    for (Sequence s = first; s <= last; ++s) {
      submit(operation(client, s, std::to_string(client) + "." + std::to_string(s)));
    }
  }

  /// Until nothing is on its way and nobody has anything to do right now.
  void run() {
    for (bool busy = true; busy;) {
      busy = false;
      while (!network.empty()) {
        auto [from, to, m] = std::move(network.front());
        network.pop_front();
        messages += 1;
        tell(to, Received{from, std::move(m)});
        busy = true;
      }
      for (ReplicaId id = 0; id < replicas.size(); ++id) {
        if (!replicas[id].core) continue;
        const auto deadline = replicas[id].core->next_deadline();
        if (!deadline || *deadline > now) continue;
        tell(id, Tick{});
        busy = true;
      }
      REQUIRE(messages < 10'000'000);
    }
  }
  void pass(milliseconds time) {
    const Time until = now + time;
    for (run(); now < until; run()) {
      Time next = until;
      for (const Replica& replica : replicas) {
        const auto deadline = replica.core ? replica.core->next_deadline() : std::nullopt;
        if (deadline) next = std::min(next, std::max(*deadline, now + Time{1}));
      }
      now = next;
    }
  }

  /// Whether all that are up have executed the same, without an error, and what.
  std::vector<std::string> agreed() const {
    std::vector<std::string> all;
    bool first = true;
    for (const Replica& replica : replicas) {
      CHECK(replica.halted == "");
      if (!replica.core) continue;
      if (first) all = replica.executed;
      CHECK(replica.executed == all);
      first = false;
    }
    return all;
  }
  Core& core(ReplicaId id) { return *replicas[id].core; }

  const Settings settings;
  const View view;
  Time now{1'000'000'000};
  std::vector<Replica> replicas;
  struct InFlight {
    ReplicaId from, to;
    MessagePtr message;
  };
  std::deque<InFlight> network;
  /// What does not arrive.
  std::function<bool(ReplicaId from, ReplicaId to, const Message& m)> lose;
  std::uint64_t messages = 0;

 private:
  static std::vector<Digest> digests(const std::vector<Buffer>& pieces) {
    std::vector<Digest> all;
    for (const Buffer& one : pieces) all.push_back(digest_of(one));
    return all;
  }
  void take_checkpoint(ReplicaId id, Replica& replica, Instance instance) {
    std::string text;
    for (const std::string& one : replica.executed) text += one + "\n";
    constexpr std::uint32_t piece = 64;
    auto& pieces = replica.checkpoints[instance];
    for (std::size_t at = 0; at < text.size(); at += piece) {
      pieces.emplace_back(as_bytes(std::string_view(text).substr(at, piece)));
    }
    CheckpointInfo info;
    info.instance = instance;
    info.bytes = text.size();
    info.chunk_bytes = piece;
    info.chunk_count = static_cast<std::uint32_t>(pieces.size());
    info.state = digest_of_chunks(digests(pieces));
    tell(id, CheckpointTaken{info, digests(pieces)});
  }
  static void restore(Replica& replica, Instance instance) {
    std::string text;
    for (const Buffer& one : replica.checkpoints.at(instance)) text += as_text(one);
    replica.executed.clear();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      replica.executed.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    replica.instance = instance;
  }
  std::uint64_t nonce = 0;

  void do_action(ReplicaId id, Replica& replica, Action& action) {
    if (auto* send = std::get_if<Send>(&action)) {
      if (send->to == id || !lose || !lose(id, send->to, *send->message)) {
        network.push_back({id, send->to, send->message});
      }
    } else if (auto* persist = std::get_if<Persist>(&action)) {
      replica.log.push_back(std::move(persist->record));
    } else if (auto* execute = std::get_if<Execute>(&action)) {
      CHECK(execute->instance == replica.instance + 1);
      replica.instance = execute->instance;
      for (const Request& request : execute->batch->requests) {
        replica.executed.emplace_back(as_text(request.operation));
      }
      replica.times.push_back(execute->batch->time);
      if (replica.timer && execute->batch->time >= *replica.timer) replica.timer.reset();
      if (!replica.slow_service) tell(id, Executed{execute->instance, replica.timer});
    } else if (auto* read = std::get_if<ReadNow>(&action)) {
      replica.reads.push_back(*read);
    } else if (auto* refuse = std::get_if<Refuse>(&action)) {
      replica.refused.push_back(refuse->token);
    } else if (auto* note = std::get_if<Note>(&action)) {
      replica.notes.push_back(note->text);
    } else if (auto* take = std::get_if<TakeCheckpoint>(&action)) {
      if (take->wanted) take_checkpoint(id, replica, take->instance);
    } else if (auto* chunk = std::get_if<SendChunk>(&action)) {
      auto bytes =
          std::make_shared<const Buffer>(replica.checkpoints.at(chunk->instance).at(chunk->chunk));
      const MessagePtr m = message(Chunk{chunk->instance, chunk->chunk, std::move(bytes)});
      if (!lose || !lose(id, chunk->to, *m)) network.push_back({id, chunk->to, m});
    } else if (auto* store = std::get_if<StoreChunk>(&action)) {
      replica.received[store->chunk] = *store->bytes;
    } else if (auto* load = std::get_if<LoadCheckpoint>(&action)) {
      auto& pieces = replica.checkpoints[load->checkpoint.instance];
      pieces.clear();
      for (auto& [number, bytes] : replica.received) pieces.push_back(bytes);
      replica.received.clear();
      restore(replica, load->checkpoint.instance);
      tell(id, CheckpointLoaded{load->checkpoint.instance, {}});
    } else if (auto* truncate = std::get_if<Truncate>(&action)) {
      std::erase_if(replica.log, [&](const LogRecord& record) {
        const Instance instance = instance_of(record);
        return instance != 0 && instance <= truncate->instance;
      });
    } else if (auto* use = std::get_if<UseView>(&action)) {
      replica.views.push_back(use->view);
    } else if (auto* halt = std::get_if<Halt>(&action)) {
      replica.halted = halt->why;
    }
  }
};

}  // namespace piracema::smr
