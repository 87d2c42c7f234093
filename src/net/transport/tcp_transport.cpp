#include "net/transport/tcp_transport.h"

#include <algorithm>

#include "base/ensure.h"
#include "base/log.h"
#include "base/text.h"

namespace piracema::net {

Result<std::unique_ptr<TcpTransport>> TcpTransport::open(Poller& poller, TcpSettings settings,
                                                         Events events) {
  if (!is_token(settings.token)) {
    return Error{Errc::config, concat("job token: want 32 hexadecimal digits, found ",
                                      settings.token.size(), " characters")};
  }
  if (settings.me >= slots_max) {
    return Error{Errc::config, concat("slot: want one below ", slots_max, ", found ", settings.me)};
  }
  std::unique_ptr<TcpTransport> self(
      new TcpTransport(poller, std::move(settings), std::move(events)));
  auto reception = Reception::open(
      poller, self->settings_.host, self->settings_.port, self->settings_.token,
      self->settings_.sealed, self->settings_.handshake_timeout,
      {.check = [raw = self.get()](const Greeting& greeting) { return raw->check(greeting); },
       .answer = [raw = self.get()](
                     const Greeting& greeting,
                     Connection& connection) { return raw->answer(greeting, connection); },
       .greeted =
           [raw = self.get()](const Greeting& greeting, std::shared_ptr<Connection> connection) {
             raw->adopt(raw->peer(greeting.slot), greeting.incarnation, std::move(connection));
           }});
  if (!reception) return reception.error();
  self->reception_ = std::move(*reception);
  if (self->uses_local_sockets()) {
    if (auto listens = self->reception_->listen_locally(); !listens) return listens.error();
  }
  return self;
}

TcpTransport::TcpTransport(Poller& poller, TcpSettings settings, Events events)
    : poller_(poller), settings_(std::move(settings)), events_(std::move(events)) {}

TcpTransport::~TcpTransport() {
  for (auto& peer : peers_) {
    if (peer == nullptr) continue;
    clear(*peer);
    delete peer;
  }
}

// ---- any thread ----------------------------------------------------------------------------

void TcpTransport::send(Slot to, wire::Frame frame) {
  Peer* const peer = to < slots_max ? peers_[to].load(std::memory_order_acquire) : nullptr;
  if (peer == nullptr) return;
  peer->outlet.read([&](Connection& connection) { connection.send(std::move(frame)); });
}

void TcpTransport::send(Slot to, std::vector<wire::Frame> frames) {
  Peer* const peer = to < slots_max ? peers_[to].load(std::memory_order_acquire) : nullptr;
  if (peer == nullptr) return;
  peer->outlet.read([&](Connection& connection) { connection.send(std::move(frames)); });
}

void TcpTransport::connect(Slot peer, std::uint32_t incarnation, std::string address) {
  poller_.post([=, this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) want(peer, incarnation, address);
  });
}

std::vector<LinkState> TcpTransport::links() {
  std::vector<LinkState> links;
  for (Slot slot = 0; slot < slots_max; ++slot) {
    const Peer* const peer = peers_[slot].load(std::memory_order_relaxed);
    if (peer == nullptr || !peer->connection) continue;
    if (const auto tcp = peer->connection->tcp_state()) links.push_back({slot, *tcp});
  }
  return links;
}

// ---- peers ---------------------------------------------------------------------------------

void TcpTransport::want(Slot slot, std::uint32_t incarnation, const std::string& address) {
  if (slot >= slots_max || slot == settings_.me) {
    return events_.lost(slot, incarnation,
                        {Errc::config, concat("slot: want another one than ", settings_.me,
                                              ", below ", slots_max, ", found ", slot)});
  }
  Peer& wanted = peer(slot);
  if (incarnation < wanted.incarnation) {
    return events_.lost(slot, incarnation, replaced_by(wanted.incarnation));
  }
  if (incarnation > wanted.incarnation) end(wanted, replaced_by(incarnation));
  if (wanted.connection) return events_.connected(slot, incarnation);

  clear(wanted);
  wanted.incarnation = incarnation;
  if (settings_.me > slot) {
    call(wanted, address);
  } else {
    wait(wanted);
  }
}

void TcpTransport::call(Peer& peer, const std::string& address) {
  const auto other = settings_.peers.find(peer.slot);
  const bool special = other != settings_.peers.end();
  const SharedMemory shared_memory = special ? other->second : settings_.shared_memory;
  MpiWorld* const mpi = special ? nullptr : settings_.mpi;
  const Call::Whom whom{peer.slot, peer.incarnation, address};
  peer.call = std::make_unique<Call>(poller_, settings_.token, greeting(), whom, shared_memory,
                                     settings_.sealed, mpi, now() + settings_.connect_timeout,
                                     [this, &peer](Result<std::shared_ptr<Connection>> answer) {
                                       if (answer) {
                                         adopt(peer, peer.incarnation, std::move(*answer));
                                       } else {
                                         end(peer, answer.error());
                                       }
                                     });
}

bool TcpTransport::uses_local_sockets() const {
  const auto uses = [](SharedMemory how) { return how != SharedMemory::never; };
  return uses(settings_.shared_memory) ||
         std::any_of(settings_.peers.begin(), settings_.peers.end(),
                     [&](const auto& peer) { return uses(peer.second); });
}

void TcpTransport::wait(Peer& peer) {
  peer.waiting = poller_.at(now() + settings_.connect_timeout, [this, &peer] {
    end(peer, {Errc::timeout, concat("slot ", peer.slot, " did not connect within ",
                                     settings_.connect_timeout.count(), " ms")});
  });
}

// The peer has a new connection. It is the one that counts even if we have an older one of the
// same process: he who calls knows first that a connection is broken.
void TcpTransport::adopt(Peer& peer, std::uint32_t incarnation,
                         std::shared_ptr<Connection> connection) {
  if (incarnation > peer.incarnation) {
    end(peer, replaced_by(incarnation));
  } else if (peer.connection) {
    end(peer, {Errc::io, "replaced by a new connection"});
  }
  clear(peer);
  peer.incarnation = incarnation;
  peer.connection = std::move(connection);
  peer.connection->trust(
      {.received = [this, slot = peer.slot](
                       wire::Frame frame) { events_.received(slot, std::move(frame)); },
       .lost = [this, &peer](Error why) { end(peer, std::move(why)); }});
  peer.outlet.replace(peer.connection);
  events_.connected(peer.slot, incarnation);
}

// To be told only if somebody waits for it, or counts on it.
void TcpTransport::end(Peer& peer, Error why) {
  const bool matters = peer.is_wanted() || peer.connection;
  clear(peer);
  if (matters) events_.lost(peer.slot, peer.incarnation, std::move(why));
}

void TcpTransport::clear(Peer& peer) {
  if (peer.waiting) poller_.cancel(*std::exchange(peer.waiting, std::nullopt));
  peer.call.reset();
  if (!peer.connection) return;
  peer.connection->close();  // First, so that no sender stays at it for long.
  peer.outlet.replace(nullptr);
  peer.connection.reset();
}

// ---- those who call ------------------------------------------------------------------------

Result<Done> TcpTransport::check(const Greeting& found) const {
  if (found.slot <= settings_.me || found.slot >= slots_max) {
    return Error{Errc::refused, concat("handshake: want a slot above ", settings_.me, " and below ",
                                       slots_max, ", found ", found.slot)};
  }
  const Peer* const known = peers_[found.slot];
  if (known != nullptr && found.incarnation < known->incarnation) {
    return Error{Errc::refused,
                 concat("handshake: want incarnation ", known->incarnation, " or later of slot ",
                        found.slot, ", found ", found.incarnation)};
  }
  return Done{};
}

// Says who we are, and the way that the frames will take.
Result<Reception::Answer> TcpTransport::answer(const Greeting& theirs, Connection& connection) {
  Reception::Answer answer{greeting(), nullptr};
  if (connection.is_local()) {
    auto rings = Rings::open(connection.take_descriptors());
    if (!rings) return rings.error();
    answer.channel = std::move(*rings);
    return answer;
  }
  const bool by_mpi = settings_.mpi != nullptr && theirs.mpi_world == settings_.mpi->id() &&
                      theirs.mpi_rank < settings_.mpi->size() && theirs.mpi_tag != 0;
  if (!by_mpi) return answer;
  auto channel = settings_.mpi->open_channel();
  answer.ours.mpi_world = theirs.mpi_world;
  answer.ours.mpi_rank = settings_.mpi->rank();
  answer.ours.mpi_tag = channel->tag();
  channel->join(theirs.mpi_rank, theirs.mpi_tag);
  answer.channel = std::move(channel);
  return answer;
}

Greeting TcpTransport::greeting() const {
  return {.slot = settings_.me, .incarnation = settings_.incarnation};
}

TcpTransport::Peer& TcpTransport::peer(Slot slot) {
  ENSURE(slot < slots_max);
  Peer* known = peers_[slot].load(std::memory_order_relaxed);
  if (known == nullptr) {
    known = new Peer;
    known->slot = slot;
    peers_[slot].store(known, std::memory_order_release);
  }
  return *known;
}

}  // namespace piracema::net
