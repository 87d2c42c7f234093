#include "sim/smr/client.h"

#include <algorithm>

#include "base/text.h"
#include "sim/smr/lock_errand.h"
#include "sim/smr/map_errand.h"
#include "sim/smr/world.h"
#include "smr/link/client_wire.h"
#include "smr/order/messages/batch.h"

namespace piracema::smr_sim {

using namespace smr;
using std::chrono::milliseconds;

namespace {

constexpr client::Retry retry{
    .first = milliseconds(300), .longest = milliseconds(1'200), .read = milliseconds(100)};
/// So long a bad proof is sent again and again.
constexpr Time spoiled_time = milliseconds(500);

// Some clients know of those who may become members, others have to be told.
std::vector<MemberInfo> known_spares(World& world, Random& random) {
  std::vector<MemberInfo> spares;
  const bool knows = random.chance(0.5);
  for (std::size_t id = world.view().n(); knows && id < world.replicas(); ++id) {
    spares.push_back({static_cast<ReplicaId>(id), concat("replica:", id), ""});
  }
  return spares;
}

}  // namespace

Client::Client(World& world, std::uint32_t index)
    : world_(world),
      index_(index),
      id_(id_of(index)),
      total_(world.plan().operations),
      random_(world.random().next()),
      errand_(make_errand()),
      keys_(world.keys(), world.view().model, world.replicas()),
      machine_({.id = id_,
                .operation_bytes_max = std::size_t{1} << 20,
                .retry = retry,
                .first_number = 1,
                .life = index + 1},
               world.view(), known_spares(world, random_), keys_) {}

Client::~Client() = default;

std::unique_ptr<Errand> Client::make_errand() {
  if (world_.plan().locks) return std::make_unique<LockErrand>(world_, id_, random_);
  return std::make_unique<MapErrand>(world_, id_, random_);
}

void Client::start() { happened(client::Tick{}); }

void Client::timer(std::uint64_t generation) {
  if (generation != timer_) return;
  planned_.reset();
  const auto deadline = machine_.next_deadline();
  if (deadline && *deadline <= world_.now()) step(client::Tick{});
  go_on();
}

void Client::happened(client::Event event) {
  step(std::move(event));
  go_on();
}

void Client::step(client::Event event) {
  machine_.step(world_.now(), std::move(event), actions_);
  std::vector<client::Action> actions;
  actions.swap(actions_);
  for (client::Action& action : actions) {
    std::visit([this](auto& one) { act(one); }, action);
  }
}

// Asks for as much as may be asked for now, and plans when to look again.
void Client::go_on() {
  const Time now = world_.now();
  const auto may_ask = [this] {
    return asked_ < total_ && open_.size() < world_.plan().outstanding;
  };
  while (may_ask() && now >= next_at_) ask();
  std::optional<Time> next = machine_.next_deadline();
  if (may_ask()) next = std::min(next.value_or(Time::max()), next_at_);
  if (!next || (planned_ && *planned_ <= *next)) return;
  planned_ = next;
  world_.wake_client(index_, *next, ++timer_);
}

void Client::ask() {
  asked_ += 1;
  Errand::Wish wish = errand_->next(asked_);
  open_[asked_] = wish.ticket;
  const auto think = static_cast<std::uint64_t>(world_.plan().think.count());
  next_at_ = world_.now() + Time(random_.below(2 * think + 1));
  const Time patience = world_.plan().patience;
  const Time deadline = patience == Time{} ? Time::max() : world_.now() + patience;
  if (wish.is_read && random_.chance(world_.plan().reads)) {
    return step(client::ReadWanted{asked_, std::move(wish.operation), deadline, false});
  }
  step(client::OrderWanted{asked_, Kind::ordered, 0, std::move(wish.operation), deadline});
}

void Client::act(client::Answer& answer) {
  const auto asked = open_.extract(answer.ticket);
  if (asked.empty()) return world_.oracle().complain("a client was told twice");
  if (answer.result) return errand_->answered(asked.mapped(), *answer.result);
  // Whether it was done nobody tells.
  if (world_.plan().sessions == 0 && world_.plan().patience == Time{}) {
    world_.oracle().complain(concat("a client was told: ", answer.result.error().message));
  }
  errand_->abandoned(asked.mapped());
}

// ---- links ----------------------------------------------------------------------------------

void Client::act(client::Connect& connect) {
  const ReplicaId replica = connect.replica.id;
  called_.insert(replica);
  world_.after(world_.wires().between(Time{}, milliseconds(5)), [this, replica] { call(replica); });
}

void Client::act(client::Disconnect& disconnect) {
  called_.erase(disconnect.replica);
  const auto link = links_.extract(disconnect.replica);
  if (!link.empty()) link.mapped()->cut();
}

// Until it answers.
void Client::call(ReplicaId replica) {
  if (!called_.contains(replica) || links_.contains(replica)) return;
  if (!world_.can_connect(index_, replica)) {
    world_.after(world_.wires().between(milliseconds(5), milliseconds(300)),
                 [this, replica] { call(replica); });
    return happened(client::LinkDown{replica, "no answer", false});
  }
  const auto link = std::make_shared<ClientLink>(world_, index_, replica);
  links_[replica] = link;
  world_.replica(replica).take(link);
  happened(client::LinkUp{replica});
}

void Client::lost(const ClientLink& link) {
  const ReplicaId replica = link.replica();
  const auto found = links_.find(replica);
  if (found == links_.end() || found->second.get() != &link) return;
  links_.erase(found);
  world_.after(world_.wires().between(Time{}, milliseconds(100)),
               [this, replica] { call(replica); });
  happened(client::LinkDown{replica, "the connection is lost", false});
}

void Client::cut(ReplicaId replica) {
  const auto found = links_.find(replica);
  if (found != links_.end()) found->second->cut();
}

void Client::heard(const ClientLink& link, const LinkMessage& message) {
  const auto found = links_.find(link.replica());
  if (found == links_.end() || found->second.get() != &link) return;
  happened(client::Heard{link.replica(), message.kind, *message.bytes});
}

void Client::act(client::Send& send) {
  const auto found = links_.find(send.to);
  if (found == links_.end()) return;
  const bool spoils = send.kind == submit_kind && world_.plan().bad_proofs > 0;
  world_.to_replica(found->second,
                    {send.kind, spoils ? perhaps_spoiled(send.message) : send.message});
}

// Some requests convince only about half of the replicas at first.
std::shared_ptr<const Buffer> Client::perhaps_spoiled(
    const std::shared_ptr<const Buffer>& message) {
  auto request = decode_request(*message);
  if (!request || !has_session(request->kind)) return message;
  const auto [found, is_new] = spoiled_.try_emplace({request->session, request->sequence});
  Spoiled& spoiled = found->second;
  if (is_new && random_.chance(world_.plan().bad_proofs)) {
    spoiled.until = world_.now() + spoiled_time;
    for (std::size_t i = 0; i < request->proof.size(); i += sizeof(std::uint64_t)) {
      if (random_.chance(0.5)) request->proof.data()[i] ^= std::byte{1};
    }
    Buffer bytes;
    encode(*request, bytes);
    spoiled.message = std::make_shared<const Buffer>(std::move(bytes));
  }
  return spoiled.message && world_.now() < spoiled.until ? spoiled.message : message;
}

}  // namespace piracema::smr_sim
