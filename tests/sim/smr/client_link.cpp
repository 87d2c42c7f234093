#include "sim/smr/client_link.h"

#include "sim/smr/world.h"

namespace piracema::smr_sim {

using namespace smr;
using std::chrono::milliseconds;

namespace {

// A process that dies says so at once, a machine does not.
Time until_noticed(World& world) {
  const bool at_once = world.random().chance(0.7);
  return world.wires().between(Time{}, at_once ? milliseconds(3) : milliseconds(1'000));
}

}  // namespace

ClientLink::ClientLink(World& world, std::uint32_t client, ReplicaId replica)
    : world_(world),
      client_(client),
      replica_(replica),
      peer_{PeerName::Role::client, Client::id_of(client)} {}

bool ClientLink::send(std::uint8_t kind, Bytes first, Bytes second) {
  if (!at_replica_) return false;
  Buffer bytes(first);
  bytes.append(second.data(), second.size());
  world_.to_client(shared_from_this(), {kind, std::make_shared<const Buffer>(std::move(bytes))});
  return true;
}

void ClientLink::pause(bool paused) {
  paused_ = paused;
  if (paused_ || kept_.empty()) return;
  world_.after(Time{}, [self = shared_from_this()] {
    while (!self->paused_ && !self->kept_.empty()) {
      const LinkMessage message = std::move(self->kept_.front());
      self->kept_.pop_front();
      self->world_.replica(self->replica_).received(*self, message);
    }
  });
}

void ClientLink::close() {
  if (!std::exchange(at_replica_, false)) return;
  world_.after(until_noticed(world_),
               [self = shared_from_this()] { self->world_.client(self->client_).lost(*self); });
}

void ClientLink::cut() {
  const auto self = shared_from_this();
  world_.after(until_noticed(world_), [self] { self->world_.client(self->client_).lost(*self); });
  world_.after(until_noticed(world_), [self] { self->world_.replica(self->replica_).lost(*self); });
}

void ClientLink::arrived(LinkMessage message) {
  if (!at_replica_) return;
  if (paused_ || !kept_.empty()) return kept_.push_back(std::move(message));
  world_.replica(replica_).received(*this, message);
}

}  // namespace piracema::smr_sim
