#pragma once

#include <functional>
#include <memory>
#include <variant>

#include "control/messages/control.h"
#include "run/packet/mailbox.h"
#include "run/replica/replica.h"
#include "run/threads/actor.h"

namespace piracema::runtime {

/// Which replica an actor is; it may become another one with an epoch. Never changed.
struct ReplicaIdentity {
  ReplicaId self = 0;
  flow::ReplicaPlan plan;
  std::shared_ptr<const Graph> graph;
  std::atomic<std::uint64_t>* at_work = nullptr;
};

struct Addressed {
  ReplicaId to;
  Packet packet;
};

/// What the replicas of a process tell those who run them. Called from the replicas' threads.
class ReplicaOwner {
 public:
  virtual ~ReplicaOwner() = default;
  /// Brings a packet to a replica of this or another process.
  virtual void route(Epoch epoch, ReplicaId from, ReplicaId to, Packet packet) = 0;
  /// The same for several, in their order: those to one process together.
  virtual void route(Epoch epoch, ReplicaId from, std::vector<Addressed> packets) = 0;
  /// A copy to each replica of a node.
  virtual void route_to_all(Epoch epoch, ReplicaId from, const ToAll& to, Packet packet) = 0;
  virtual void begun(Epoch epoch, ReplicaId replica) = 0;
  virtual void save(Epoch epoch, ReplicaId replica, SnapshotId snapshot, std::uint64_t items_out,
                    store::PartContent part) = 0;
  /// `done` is called, on any thread, when its memory is free again; the replica is there until its
  /// owner is gone.
  virtual void save_piece(Epoch epoch, ReplicaId replica, SnapshotId snapshot, Buffer piece,
                          std::function<void()> done) = 0;
  virtual void ended(Epoch epoch, ReplicaId replica) = 0;
  virtual void committed(Epoch epoch, ReplicaId replica, SnapshotId snapshot) = 0;
  virtual void first_output(Epoch epoch, ReplicaId replica) = 0;
  virtual void failed(Epoch epoch, ReplicaId replica, std::optional<std::uint64_t> item,
                      std::string why) = 0;
  virtual void skipped(Epoch epoch, ReplicaId replica, std::uint64_t item, Bytes bytes) = 0;
};

/// A replica and its letters. Lives as long as its process; the `Replica` inside is made anew for
/// every epoch, and is none in an epoch that has no such replica here.
class ReplicaActor final : public Actor, public Port {
 public:
  /// Gets its turns from `threads`, from now on.
  ReplicaActor(ReplicaOwner& owner, Threads& threads);
  ~ReplicaActor() override;

  /// Waits until the operator returns from what it is at; there are no turns after that. Others may
  /// still deliver afterwards: all replicas are joined before the first one is destroyed.
  void join();

  // ---- any thread; each returns at once
  void quit() { mailbox_.put(Quit{}); }
  /// Reads what a replica begins with; gets what the one before it has kept, or null.
  using ReadState = std::function<Result<ReplicaInit>(std::shared_ptr<state::KeptStates>)>;
  /// Drops all of older epochs and makes the operator anew, as the replica `who`, which is of the
  /// same node and index as ever. `read_state` is called in a turn of the replica; `owner.begun` or
  /// `owner.failed` follows.
  void begin(Epoch epoch, std::shared_ptr<const ReplicaIdentity> who, ReadState read_state);
  /// Drops all of older epochs: it is no replica in this one.
  void retire(Epoch epoch) { mailbox_.put(Begin{epoch, nullptr, nullptr}); }
  /// The other processes can be reached: the replica may send.
  void start(Epoch epoch) { mailbox_.put(Go{epoch}); }
  void deliver(Epoch epoch, ReplicaId from, Packet packet) {
    mailbox_.put(Parcel{epoch, from, std::move(packet)});
  }
  void trigger(Epoch epoch, SnapshotId snapshot, SnapshotId complete, bool hold, Time patience) {
    mailbox_.put(TriggerLetter{epoch, snapshot, complete, hold, patience});
  }
  void commit(Epoch epoch, SnapshotId snapshot) { mailbox_.put(CommitLetter{epoch, snapshot}); }

  const Counters& counters() const { return counters_; }
  /// The item that it is at work on; Progress::no_item if there is none.
  std::uint64_t item() const {
    return at_work_.load(std::memory_order_relaxed)->load(std::memory_order_relaxed);
  }

  /// Any thread. Its operator is still at what it did before `epoch`.
  bool is_busy_before(Epoch epoch) const { return in_turn_ && restores_ < epoch; }
  /// Changes while the replica begins: bytes of its state, and steps.
  std::uint64_t restored() const { return restored_; }

 private:
  struct Parcel {
    Epoch epoch;
    ReplicaId from;
    Packet packet;
  };
  struct Begin {
    Epoch epoch;
    std::shared_ptr<const ReplicaIdentity> who;
    ReadState read_state;
  };
  struct Go {
    Epoch epoch;
  };
  struct TriggerLetter {
    Epoch epoch;
    SnapshotId snapshot, complete;
    bool hold;
    Time patience;
  };
  struct CommitLetter {
    Epoch epoch;
    SnapshotId snapshot;
  };
  struct Quit {};
  using Letter = std::variant<Parcel, Begin, Go, TriggerLetter, CommitLetter, Quit>;

  Turn turn() override;
  Turn take_turn();
  Turn step();
  void read_mail();
  void open(Letter letter);
  void do_begin();
  void do_start();

  void send(ReplicaId to, Packet packet) override;
  void send_to_all(const ToAll& to, Packet packet) override;
  void flush() override;
  void save(SnapshotId snapshot, std::uint64_t items_out, store::PartContent part) override;
  void save_piece(SnapshotId snapshot, Buffer piece) override;
  std::uint64_t unwritten() const override { return unwritten_; }
  void ended() override { owner_.ended(epoch_, self()); }
  void committed(SnapshotId snapshot) override { owner_.committed(epoch_, self(), snapshot); }
  void first_output() override { owner_.first_output(epoch_, self()); }
  void failed(std::optional<std::uint64_t> item, std::string why) override;
  void skipped(std::uint64_t item, Bytes bytes) override {
    owner_.skipped(epoch_, self(), item, bytes);
  }
  bool wait(std::optional<Time> longest) override;
  std::function<void()> waker() override {
    return [this] { parker().wake(); };
  }
  Time now() override { return piracema::now(); }
  WallTime wall_time() override { return std::chrono::system_clock::now(); }

  ReplicaId self() const { return who_->self; }

  ReplicaOwner& owner_;
  Threads& threads_;
  std::atomic<std::uint64_t> own_at_work_{Progress::no_item};
  std::atomic<std::atomic<std::uint64_t>*> at_work_{&own_at_work_};

  std::atomic<bool> in_turn_{false};
  /// The newest epoch that it has begun to go back for.
  std::atomic<Epoch> restores_{0};
  std::atomic<std::uint64_t> restored_{0};
  std::atomic<std::uint64_t> unwritten_{0};

  Mailbox<Letter> mailbox_{parker()};
  Counters counters_;
  Epoch epoch_ = 0;
  /// Outlives the replica.
  std::shared_ptr<const ReplicaIdentity> who_;
  std::unique_ptr<Replica> replica_;
  std::optional<Begin> to_begin_;
  /// The newest epoch that may send.
  Epoch may_start_ = 0;
  bool running_ = false;
  /// How long a source that has nothing is left alone.
  Time poll_{};
  /// What others, who have begun already, sent to an epoch that this replica has yet to begin.
  std::vector<Parcel> early_;
  /// Credits that wait for company.
  std::vector<Addressed> credits_;
  bool quit_ = false;
  bool joined_ = false;
};

}  // namespace piracema::runtime
