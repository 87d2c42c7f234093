#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/text.h"
#include "run/worker/attachment.h"
#include "sim/cluster.h"

namespace piracema::sim {

/// A process from its start to its end. Its object stays: what is still on the way may name it.
class Cluster::Process final : public ProcessHost {
 public:
  Process(Cluster& cluster, Id id)
      : cluster_(cluster),
        id_(id),
        node_(cluster.network_.add(concat("process ", id.first, ".", id.second))) {}

  void start() {
    cluster_.network_.after(
        node_,
        cluster_.scheduler_.between(std::chrono::milliseconds(1), std::chrono::milliseconds(30)),
        [this] {
          worker_ = cluster_.make_worker_(id_.first, *this);
          look_for_coordinator(cluster_.scheduler_.now() + cluster_.settings_.search);
          beat();
        });
  }

  /// As its connection has ended.
  void lose_coordinator() {
    connected_ = false;
    after(cluster_.scheduler_.between(Time{0}, std::chrono::milliseconds(2)),
          [this] { look_for_coordinator(cluster_.scheduler_.now() + cluster_.settings_.search); });
  }

  /// Of a coordinator with that term, on whichever connection.
  void receive(std::uint64_t term, const runtime::ToWorker& message) {
    if (!attachment_.admit(term)) {
      cluster_.refused_ += 1;
      return;
    }
    if (!attachment_.heard(message)) return;
    if (std::holds_alternative<runtime::Attach>(message)) {
      for (runtime::FromWorker& answer : attachment_.answer()) {
        to_coordinator(name_of(answer), cluster::Said{id_.first, id_.second, std::move(answer)});
      }
    } else if (const auto* shutdown = std::get_if<runtime::Shutdown>(&message)) {
      after(
          cluster_.scheduler_.between(std::chrono::milliseconds(1), std::chrono::milliseconds(50)),
          [this, code = shutdown->code] {
            cluster_.end(*this, concat("ended with status ", code), false, false);
          });
    } else {
      worker_->handle(message);
    }
  }

  void say(runtime::FromWorker message) override {
    attachment_.said(message);
    if (connected_)
      to_coordinator(name_of(message), cluster::Said{id_.first, id_.second, std::move(message)});
  }
  void after(Time delay, std::function<void()> work) override {
    cluster_.network_.after(node_, delay, std::move(work));
  }
  void send(Slot to, std::uint32_t incarnation, const std::string& what,
            std::function<void(SimWorker&)> work) override {
    Process* peer = cluster_.find({to, incarnation});
    if (peer == nullptr) return;
    cluster_.network_.send(node_, peer->node_, what, [peer, work = std::move(work)] {
      if (peer->worker_) work(*peer->worker_);
    });
  }
  store::SnapshotStore& store() override { return cluster_.store_; }
  Scheduler& scheduler() override { return cluster_.scheduler_; }
  void at_work(ReplicaId replica, std::uint64_t item) override { at_work_ = {{replica, item}}; }
  void freeze() override { cluster_.network_.freeze(node_); }
  void hang_up() override { cluster_.hang_up(*this); }
  const std::vector<std::pair<ReplicaId, std::uint64_t>>& was_at_work() const { return at_work_; }

  Id id() const { return id_; }
  Node node() const { return node_; }
  bool alive() const { return cluster_.network_.up(node_); }
  bool connected() const { return connected_; }
  void set_disconnected() { connected_ = false; }
  SimWorker* worker() { return worker_.get(); }

 private:
  void look_for_coordinator(Time until) {
    if (connected_) return;
    if (cluster_.coordinated()) {
      connected_ = true;
      to_coordinator("joins", cluster::Joined{id_.first,
                                              id_.second,
                                              cluster_.network_.name(node_),
                                              runtime::encode_shape(cluster_.settings_.shape),
                                              {},
                                              cluster_.settings_.layouts});
    } else if (cluster_.scheduler_.now() >= until) {
      cluster_.end(*this, "ended with status 1", true, false);
    } else {
      after(cluster_.scheduler_.between(std::chrono::milliseconds(50),
                                        std::chrono::milliseconds(150)),
            [this, until] { look_for_coordinator(until); });
    }
  }

  void beat() {
    if (connected_) say(worker_->heartbeat());
    if (const auto restoring = worker_->restoring()) say(*restoring);
    after(cluster_.settings_.job.heartbeat_interval, [this] { beat(); });
  }
  void to_coordinator(const std::string& what, cluster::Event event) {
    cluster_.network_.send(
        node_, cluster_.coordinator_node_, what,
        [this, event = std::move(event)]() mutable { cluster_.tell(std::move(event)); });
  }
  static std::string name_of(const runtime::FromWorker& message) {
    static const char* const names[] = {
        "hello",           "ready",      "saved",         "save failed", "ended",
        "operator failed", "committed",  "first output",  "heartbeat",   "restoring",
        "attached",        "links seen", "has read ahead"};
    return names[message.index()];
  }

  Cluster& cluster_;
  const Id id_;
  const Node node_;
  std::unique_ptr<SimWorker> worker_;
  runtime::Attachment attachment_;
  bool connected_ = false;
  std::vector<std::pair<ReplicaId, std::uint64_t>> at_work_;
};

}  // namespace piracema::sim
