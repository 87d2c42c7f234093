#include "sim/smr/client.h"

#include "sim/smr/lock_errand.h"
#include "sim/smr/map_errand.h"
#include "sim/smr/world.h"
#include "wire/fields.h"

namespace piracema::smr_sim {

using namespace smr;
using std::chrono::milliseconds;

namespace {

constexpr Time patience = milliseconds(300);
/// Further than this no request is ahead of one that waits: replicas remember so many replies.
constexpr Sequence span = 12;

}  // namespace

Client::Client(World& world, std::uint32_t index)
    : world_(world),
      index_(index),
      id_(id_of(index)),
      total_(world.plan().operations),
      random_(world.random().next()),
      errand_(make_errand()) {}

std::unique_ptr<Errand> Client::make_errand() {
  if (world_.plan().locks) return std::make_unique<LockErrand>(world_, id_, random_);
  return std::make_unique<MapErrand>(world_, id_, random_);
}

void Client::timer(std::uint64_t generation) {
  if (generation != timer_) return;
  planned_.reset();
  wake();
}

void Client::wake() {
  const Time now = world_.now();
  if (session_ == 0 && opening_.tries == 0 && asked_ < total_) open_session();
  while (session_ != 0 && asked_ < total_ && open_.size() < world_.plan().outstanding &&
         now >= next_at_ && (open_.empty() || open_.begin()->first + span > asked_ + 1)) {
    ask();
  }
  Time next = Time::max();
  if (opening_.tries > 0) {
    if (opening_.again <= now) send(opening_);
    next = opening_.again;
  }
  if (asked_ < total_ && open_.size() < world_.plan().outstanding && now < next_at_)
    next = next_at_;
  for (auto& [sequence, open] : open_) {
    if (open.again <= now) send(open);
    next = std::min(next, open.again);
  }
  if (next == Time::max() || (planned_ && *planned_ <= next)) return;
  planned_ = next;
  world_.wake_client(index_, next, ++timer_);
}

void Client::open_session() {
  auto request = std::make_shared<Request>();
  request->client = id_;
  request->sequence = ++opens_;
  request->kind = Kind::open;
  prove(*request, false);
  opening_.request = std::move(request);
  send(opening_);
}

void Client::ask() {
  asked_ += 1;
  Errand::Wish wish = errand_->next(asked_);
  auto request = std::make_shared<Request>();
  request->client = id_;
  request->session = session_;
  request->sequence = asked_;
  request->operation = std::move(wish.operation);
  if (wish.is_read && random_.chance(world_.plan().reads)) {
    request->session = first_read;
    prove(*request, false);
  } else {
    prove(*request, random_.chance(world_.plan().bad_proofs));
  }
  Open& open = open_[asked_];
  open.request = std::move(request);
  open.ticket = wish.ticket;
  const auto think = static_cast<std::uint64_t>(world_.plan().think.count());
  next_at_ = world_.now() + Time(random_.below(2 * think + 1));
  send(open);
}

// A bad one convinces about half of the replicas.
void Client::prove(Request& request, bool bad) {
  const Plan& plan = world_.plan();
  if (plan.model == FaultModel::crash) return;
  request.proof.clear();
  for (ReplicaId replica = 0; replica < world_.replicas(); ++replica) {
    std::uint64_t tag = world_.keys().tag(replica, request);
    if (bad && random_.chance(0.5)) tag ^= 1;
    request.proof.append(&tag, sizeof tag);
  }
}

// A better proof after two bad ones; a read again, or in the order if replicas do not agree on it.
void Client::begin_try(Open& open) {
  const bool read = is_read(*open.request);
  if (open.tries == 0 || (!read && (open.tries != 2 || world_.plan().bad_proofs == 0))) return;
  auto better = std::make_shared<Request>(*open.request);
  if (read) better->session = open.tries < 3 || session_ == 0 ? better->session + 1 : session_;
  prove(*better, false);
  open.request = std::move(better);
  open.heard.clear();
}

// To one replica first, if it is so; to all when that takes long.
void Client::send(Open& open) {
  const Plan& plan = world_.plan();
  begin_try(open);
  const View& view = world_.latest_view();
  for (std::size_t i = 0; i < view.n(); ++i) {
    if (plan.sends_to_all || open.tries > 0 || i == favourite_ % view.n()) {
      world_.submit(index_, view.members[i].id, open.request);
    }
  }
  open.tries += 1;
  open.again = world_.now() + patience * std::min(open.tries, 4);
}

void Client::reply(ReplicaId from, const Reply& reply) {
  if (reply.session == 0) return opened(from, reply);
  const auto found = open_.find(reply.sequence);
  if (found == open_.end() || reply.session != found->second.request->session) return;
  Open& open = found->second;
  if (!believes(open, from, reply)) return;

  if (reply.status == ReplyStatus::no_session && world_.plan().sessions > 0) {
    // Whether it was done before the session went nobody tells.
    errand_->abandoned(open.ticket);
    if (session_ == reply.session) session_ = 0;
    open_.erase(found);
    return wake();
  }
  favourite_ = from;
  const auto result = reply.result;
  const std::size_t ticket = open.ticket;
  open_.erase(found);
  errand_->answered(ticket, result ? Bytes(*result) : Bytes());
  wake();
}

void Client::opened(ReplicaId from, const Reply& reply) {
  const bool waits = opening_.tries > 0 && reply.sequence == opening_.request->sequence;
  if (!waits || !believes(opening_, from, reply)) return;
  opening_ = {};
  if (reply.status == ReplyStatus::no_session && world_.plan().sessions > 0) return wake();
  const auto opened =
      reply.result ? wire::decode<SessionOpened>(*reply.result) : Error{Errc::corrupt, "no result"};
  if (!opened) return world_.oracle().complain("a session was not opened");
  session_ = opened->session;
  wake();
}

bool Client::believes(Open& open, ReplicaId from, const Reply& reply) {
  const std::uint64_t hash = Keys::hash(static_cast<std::uint64_t>(reply.status),
                                        reply.result ? Bytes(*reply.result) : Bytes());
  open.heard[from] = hash;
  std::size_t equal = 0;
  for (const auto& [replica, other] : open.heard) equal += other == hash ? 1 : 0;
  // What a quorum has not executed, another quorum's answer to a read may miss (order/core.h).
  const View& view = world_.latest_view();
  const bool reads = world_.plan().reads > 0 && world_.plan().model == FaultModel::byzantine;
  return equal >= (reads ? view.quorum() : view.one_correct());
}

}  // namespace piracema::smr_sim
