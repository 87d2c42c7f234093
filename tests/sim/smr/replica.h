#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sim/smr/client_link.h"
#include "sim/smr/disk.h"
#include "sim/smr/machine.h"
#include "sim/smr/sim_keys.h"
#include "smr/client/client_port.h"
#include "smr/order/agreement/divergence.h"
#include "smr/order/core/core.h"
#include "smr/service/executor/sequential_executor.h"
#include "smr/service/service.h"

namespace piracema::smr_sim {

class Liar;
class World;

/// A simulated process: a real core between a simulated disk, network and clock.
class Replica {
 public:
  Replica(World& world, smr::ReplicaId id, bool lies);
  ~Replica();

  /// Begins a life with what the disk has.
  void start();
  /// Its power fails; or its process ends, as after an error.
  void crash();
  void end();
  void lose_disk();
  /// It crashes at the next record that it writes, before or after it, synced or not; or at one of
  /// the next steps of its disk.
  void crash_at_persist();
  void never_mind();
  /// Nothing happens in it for a while.
  void freeze_until(Time time) { frozen_until_ = time; }
  Time frozen_until() const { return frozen_until_; }
  void jump_clock(Time by) { offset_ += by; }
  /// After a loss of its disk, until it knows again what it knew.
  bool amnesia() const { return amnesia_; }

  bool up() const { return core_ != nullptr; }
  std::uint64_t life() const { return life_; }
  smr::ReplicaId id() const { return id_; }
  smr::Instance executed() const { return executed_; }
  bool lies() const { return liar_ != nullptr; }
  /// Its machine makes a mistake, once, at this operation of all that it does: what its state is
  /// then is nobody's promise, and it is to end.
  void go_astray_at(std::uint64_t operation) { astray_at_ = operation; }
  bool is_correct() const { return !lies() && astray_at_ == 0; }
  /// Where that was, once it was.
  const std::optional<smr::Divergence::Place>& went_astray() const { return went_astray_; }
  /// Whether it has taken a checkpoint since then, before it became another replica's.
  bool shows_it() const { return shows_it_; }
  /// Why it gave up.
  const std::string& why() const { return why_; }
  Liar& liar() { return *liar_; }
  bool halted() const { return halted_; }
  const smr::Core& core() const { return *core_; }
  /// The newest checkpoint that it has known a quorum to have, in all of its lives.
  smr::Instance stable_known() const {
    return std::max(stable_known_, core_ ? core_->footprint().stable : 0);
  }
  /// When its service wants a tick.
  std::optional<std::uint64_t> timer() const { return seat_->service.timer(); }
  std::uint64_t state() const { return seat_->machine->hash(); }
  Disk& disk() { return disk_; }
  /// Disks fail within f: this one may do more than lose what was not synced.
  bool has_bad_disk() const { return bad_disk_; }
  void set_bad_disk() { bad_disk_ = true; }

  void hear(smr::Event event);
  void receive(smr::ReplicaId from, smr::MessagePtr message);
  /// Of the administrator, who has no link.
  void receive(const std::shared_ptr<const smr::Request>& request);
  /// A client has called; it is up.
  void take(std::shared_ptr<ClientLink> link);
  void received(ClientLink& link, const LinkMessage& message);
  void lost(ClientLink& link);
  void tick(std::uint64_t generation);
  void synced(std::uint64_t life);
  void happened(std::uint64_t life, smr::Event event) {
    if (life == life_) hear(std::move(event));
  }

 private:
  /// Its service, of one life.
  struct Seat {
    Seat(const smr::ServiceSettings& settings, std::unique_ptr<SimMachine> made,
         smr::ReplySink replies)
        : machine(std::move(made)),
          executor(*machine),
          service(settings, *machine, executor, std::move(replies)) {}
    const std::unique_ptr<SimMachine> machine;
    smr::SequentialExecutor executor;
    smr::Service service;
  };
  std::unique_ptr<SimMachine> make_machine();
  void forget_life();
  /// What a process does of which the disk is wrong.
  void fail(const Error& error);
  std::unique_ptr<smr::ClientPort> make_port();
  void submit(smr::Request request);
  void submit_again(smr::Request request);
  void reply(const std::vector<smr::Reply>& replies);

  Time local(Time true_time) const;
  Time true_time(Time local) const;
  void plan_tick();
  void do_actions();
  void sync();
  void send_now(smr::ReplicaId to, const smr::MessagePtr& message);
  void after_execution(smr::Event event, Time cost);

  void act(smr::Persist& persist);
  void act(smr::Send& send);
  void act(smr::Execute& execute);
  void act(smr::ReadNow& read);
  void act(smr::Refuse& refuse);
  void act(smr::TakeCheckpoint& take);
  void act(smr::Truncate& truncate);
  void act(smr::SendChunk& send);
  void act(smr::StoreChunk& store);
  void act(smr::LoadCheckpoint& load);
  void act(smr::TellTrail& tell);
  void act(smr::UseView& use);
  void act(smr::Note& note);
  void act(smr::Halt& halt);

  World& world_;
  const smr::ReplicaId id_;
  SimAuthenticator auth_;
  std::unique_ptr<Liar> liar_;

  // Kept through a crash.
  Disk disk_;
  bool amnesia_ = false;
  /// Where its log says that it has its memory back.
  std::optional<std::size_t> regained_at_;
  bool halted_ = false, bad_disk_ = false;
  std::uint64_t astray_at_ = 0;
  std::optional<smr::Divergence::Place> went_astray_;
  bool shows_it_ = false;
  std::string why_;

  // Of one life.
  std::uint64_t life_ = 0;
  std::unique_ptr<smr::Core> core_;
  std::unique_ptr<Seat> seat_;
  smr::Instance executed_ = 0;
  Time execution_free_{};
  struct Held {
    std::size_t after;
    smr::ReplicaId to;
    smr::MessagePtr message;
  };
  std::deque<Held> held_;
  std::unique_ptr<smr::ClientPort> port_;
  Time port_tick_{};
  /// Reads that wait for the core, by the port's token.
  std::map<std::uint64_t, Buffer> reads_;
  std::vector<smr::Action> actions_;
  std::uint64_t tick_ = 0;
  std::optional<Time> planned_;
  /// Where it is to crash.
  enum class CrashAt { nowhere, before_record, after_record, after_sync, between_sends, in_disk };
  CrashAt crash_at_ = CrashAt::nowhere;
  // Its clock: what it shows is offset_ + rate_ * (true time - begun_).
  smr::Instance stable_known_ = 0;
  Time begun_{}, offset_{}, frozen_until_{};
  double rate_ = 1;
};

}  // namespace piracema::smr_sim
