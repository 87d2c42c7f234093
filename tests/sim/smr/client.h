#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "sim/smr/client_link.h"
#include "sim/smr/errand.h"
#include "sim/smr/sim_keys.h"
#include "smr/client/client_machine.h"
#include "smr/request.h"

namespace piracema::smr_sim {

class World;

/// A simulated process of a client: the real machine between simulated links and a clock. It asks
/// one thing after the other.
class Client {
 public:
  Client(World& world, std::uint32_t index);
  ~Client();

  void start();
  /// Something may be due.
  void timer(std::uint64_t generation);
  void heard(const ClientLink& link, const LinkMessage& message);
  void lost(const ClientLink& link);
  /// Its connection to that replica ends, if there is one.
  void cut(smr::ReplicaId replica);

  /// What it has asked for is all that it will.
  void give_up_asking() { total_ = asked_; }
  std::size_t unanswered() const { return open_.size() + total_ - asked_; }
  bool done() const { return asked_ == total_ && open_.empty(); }

  /// Its number among all clients; those who forge have other identities.
  static smr::ClientId id_of(std::uint32_t index) { return first + index; }
  static std::uint32_t index_of(smr::ClientId id) { return static_cast<std::uint32_t>(id - first); }

 private:
  static constexpr smr::ClientId first = 1'000;
  /// A request whose proof is bad at first.
  struct Spoiled {
    Time until{};
    std::shared_ptr<const Buffer> message;
  };

  std::unique_ptr<Errand> make_errand();
  void happened(smr::client::Event event);
  void step(smr::client::Event event);
  void go_on();
  void ask();
  void call(smr::ReplicaId replica);
  std::shared_ptr<const Buffer> perhaps_spoiled(const std::shared_ptr<const Buffer>& message);

  void act(smr::client::Send& send);
  void act(smr::client::Answer& answer);
  void act(smr::client::Connect& connect);
  void act(smr::client::Disconnect& disconnect);

  World& world_;
  const std::uint32_t index_;
  const smr::ClientId id_;
  std::uint32_t total_;
  Random random_;
  const std::unique_ptr<Errand> errand_;
  SimKeyring keys_;
  smr::client::Machine machine_;

  std::uint32_t asked_ = 0;
  Time next_at_{};
  /// The errand's tickets of what is not answered, by the machine's.
  std::map<smr::client::Ticket, std::size_t> open_;
  std::set<smr::ReplicaId> called_;
  std::map<smr::ReplicaId, std::shared_ptr<ClientLink>> links_;
  std::map<std::pair<std::uint64_t, smr::Sequence>, Spoiled> spoiled_;
  std::vector<smr::client::Action> actions_;
  std::optional<Time> planned_;
  std::uint64_t timer_ = 0;
};

}  // namespace piracema::smr_sim
