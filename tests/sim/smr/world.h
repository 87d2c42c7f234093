#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/random.h"
#include "base/text.h"
#include "sim/seeds.h"
#include "sim/smr/client.h"
#include "sim/smr/client_link.h"
#include "sim/smr/lock_oracle.h"
#include "sim/smr/oracle.h"
#include "sim/smr/plan.h"
#include "sim/smr/queue.h"
#include "sim/smr/replica.h"
#include "sim/smr/sim_keys.h"
#include "sim/smr/wires.h"
#include "smr/order/views/reconfiguration.h"

namespace piracema::smr_sim {

/// So many seeds, or fewer where each takes ten times as long.
inline sim::Seeds runs(std::uint64_t count) {
#ifdef __SANITIZE_ADDRESS__
  return sim::seeds(count / 10 + 1);
#else
  return sim::seeds(count);
#endif
}

/// A cluster of real cores and simulated everything else. The same plan makes the same run.
class World {
 public:
  explicit World(const Plan& plan);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Until all clients have their answers and all replicas are equally far; complains if that does
  /// not come to pass, and then judges all that clients saw. True if there is nothing to complain
  /// about.
  bool run();
  /// The complaints, one a line.
  std::string complaints() const;

  Oracle& oracle() { return oracle_; }
  LockOracle& locks() { return locks_; }
  const Plan& plan() const { return plan_; }
  /// Of the configuration; and the last one that any replica has come to use.
  const smr::View& view() const { return view_; }
  const smr::View& latest_view() const { return latest_view_; }
  void hears_of(const smr::View& view) {
    if (view.id > latest_view_.id) latest_view_ = view;
  }
  const Keys& keys() const { return keys_; }
  Random& random() { return random_; }
  Wires& wires() { return wires_; }
  Time now() const { return now_; }
  Replica& replica(smr::ReplicaId id) { return *replicas_[id]; }
  std::size_t replicas() const { return replicas_.size(); }
  Client& client(std::uint32_t index) { return *clients_[index]; }
  /// Messages that were sent, whatever became of them.
  std::uint64_t messages() const { return messages_; }

  void send(smr::ReplicaId from, smr::ReplicaId to, smr::MessagePtr message);
  /// Whether a replica would answer this client's call.
  bool can_connect(std::uint32_t client, smr::ReplicaId replica) const;
  /// Over a link: requests and answers may be lost, doubled and overtaken by others. A view is
  /// told once on each link, so the link is cut if it gets lost.
  void to_replica(std::shared_ptr<ClientLink> link, LinkMessage message);
  void to_client(std::shared_ptr<ClientLink> link, LinkMessage message);
  void wake_client(std::uint32_t client, Time at, std::uint64_t generation);
  void tick_at(smr::ReplicaId replica, std::uint64_t generation, Time at);
  void sync_done(smr::ReplicaId replica, std::uint64_t life, Time at);
  void happens(smr::ReplicaId replica, std::uint64_t life, smr::Event event, Time at);
  void at(Time time, std::function<void()> script);
  void after(Time delay, std::function<void()> script) { at(now_ + delay, std::move(script)); }

  /// Messages between replicas that do not arrive, until it is set anew; null: all do.
  using Loses = std::function<bool(smr::ReplicaId from, smr::ReplicaId to, const smr::Message&)>;
  void lose(Loses which) { loses_ = std::move(which); }

  /// The administrator asks for it, more than once if need be.
  void ask_for(smr::ViewChange change);

  /// Clients ask for nothing new from now on.
  void give_up_asking();

  /// The power of a replica fails; it starts again after a while, of up to a second if none is
  /// given.
  void crash(smr::ReplicaId replica, std::optional<Time> down = std::nullopt);
  /// Its process ends and starts again, likewise.
  void end(smr::ReplicaId replica);

  template <class... Parts>
  void trace(const Parts&... parts) const {
    if (sim::tracing()) print(concat(parts...));
  }

 private:
  struct ToReplica {
    smr::ReplicaId from, to;
    smr::MessagePtr message;
  };
  struct FromAdministrator {
    smr::ReplicaId to;
    std::shared_ptr<const smr::Request> request;
  };
  struct FromClient {
    std::shared_ptr<ClientLink> link;
    LinkMessage message;
  };
  struct ToClient {
    std::shared_ptr<ClientLink> link;
    LinkMessage message;
  };
  struct WakeClient {
    std::uint32_t client;
    std::uint64_t generation;
  };
  struct TickAt {
    smr::ReplicaId replica;
    std::uint64_t generation;
  };
  struct SyncDone {
    smr::ReplicaId replica;
    std::uint64_t life;
  };
  struct Happens {
    smr::ReplicaId replica;
    std::uint64_t life;
    smr::Event event;
  };
  using Script = std::function<void()>;
  using Payload = std::variant<ToReplica, FromAdministrator, FromClient, ToClient, WakeClient,
                               TickAt, SyncDone, Happens, Script>;

  void happen(ToReplica&);
  void happen(FromAdministrator&);
  void happen(FromClient&);
  void happen(ToClient&);
  void happen(WakeClient&);
  void happen(TickAt&);
  void happen(SyncDone&);
  void happen(Happens&);
  void happen(Script& script) { script(); }

  bool step_until(const std::function<bool()>& done, Time limit);
  bool all_equal() const;
  void look_at_memory(const Replica& replica);
  void plan_faults();
  void let_liars_act();
  void repeat(Time mean, std::function<void()> fault);
  void heal();
  void partition();
  void cut_leader();
  void cut_link();
  void spoil_disk(Replica& replica);
  void reconfigure();
  smr::ReplicaId leader_told();
  void ask_for(std::shared_ptr<const smr::Request> change, smr::ViewId from, int times);
  void lose_disk(smr::ReplicaId replica);
  void is_gone(smr::ReplicaId replica, Time down);
  void relapse(smr::ReplicaId replica);
  Replica* any_up();
  template <class What>
  bool postponed(smr::ReplicaId replica, What& what);
  void print(const std::string& line) const;

  const Plan plan_;
  Random random_;
  Time now_{};
  Queue<Payload> queue_;
  Keys keys_;
  smr::View view_, latest_view_;
  Wires wires_;
  Loses loses_;
  Oracle oracle_;
  LockOracle locks_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::uint64_t messages_ = 0, events_ = 0;
  /// Of the administrator's requests.
  smr::Sequence changes_ = 0;
};

}  // namespace piracema::smr_sim
