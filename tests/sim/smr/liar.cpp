#include "sim/smr/liar.h"

#include "sim/smr/world.h"
#include "smr/order/messages/batch.h"
#include "smr/order/messages/statements.h"

namespace piracema::smr_sim {

using namespace smr;
using std::chrono::milliseconds;

namespace {

/// Old messages that it remembers, to say them again.
constexpr std::size_t remembered = 200;
constexpr std::uint32_t lies_of_leaders =
    equivocate | starve | forge | overrule | fast_clock | two_proposals;

}  // namespace

Liar::Liar(World& world, ReplicaId me, const Authenticator& auth)
    : world_(world),
      me_(me),
      auth_(auth),
      lies_(world.plan().lies),
      random_(world.random().next()),
      flipped_(random_.chance(0.5)) {}

void Liar::say(ReplicaId to, MessagePtr message) { world_.send(me_, to, std::move(message)); }

void Liar::say_to_all(const MessagePtr& message) {
  for (ReplicaId to = 0; to < world_.replicas(); ++to) {
    if (to != me_) say(to, message);
  }
}

// ---- instead of what the core says ----------------------------------------------------------

void Liar::send(ReplicaId to, const MessagePtr& message) {
  if (to == me_) return say(to, message);
  if (does(withhold)) {
    // Always the same kinds to the same replicas, so that it is not just a bad wire.
    const std::uint64_t which = Keys::mix(Keys::mix(world_.plan().seed, to), message->index());
    if (which % 4 == 0) return;
  }
  if (does(drop_some) && std::holds_alternative<Propose>(*message) && random_.chance(0.3)) return;
  // To each what it wants to hear, once it has said it: what comes first is what counts.
  const bool is_vote =
      std::holds_alternative<Write>(*message) || std::holds_alternative<Accept>(*message);
  if (does(double_vote) && is_vote) return;
  MessagePtr instead = twisted(to, message);
  if (does(replay) && random_.chance(0.1)) heard_.push_back(message);
  if (does(slow_leader) && std::holds_alternative<Propose>(*message)) {
    const Time nearly = world_.plan().settings.request_timeout * 9 / 10;
    world_.after(nearly, [this, to, instead = std::move(instead)] { say(to, instead); });
    return;
  }
  say(to, instead);
  // The other one follows at once: which one comes first is not the same everywhere.
  const auto* propose = std::get_if<Propose>(message.get());
  if (!does(two_proposals) || !propose) return;
  const auto* said = std::get_if<Propose>(instead.get());
  const bool other_was_said = said->batch->digest != propose->batch->digest;
  const BatchPtr& other = others_.at(propose->batch->digest);
  say(to, smr::message(Propose{propose->instance, propose->regency,
                               other_was_said ? propose->batch : other}));
}

MessagePtr Liar::twisted(ReplicaId to, const MessagePtr& message) {
  if (const auto* propose = std::get_if<Propose>(message.get())) {
    batches_[propose->batch->digest] = propose->batch;
    if ((lies_ & lies_of_leaders) != 0) {
      return twist(to, *propose);
    }
  } else if (const auto* write = std::get_if<Write>(message.get())) {
    const auto other = others_.find(write->digest);
    if (other != others_.end() && (other_face(to) || hidden_.contains(write->digest))) {
      return smr::message(Write{write->instance, write->regency, other->second->digest});
    }
  } else if (const auto* accept = std::get_if<Accept>(message.get())) {
    const auto other = others_.find(accept->digest);
    if (other != others_.end() && (other_face(to) || hidden_.contains(accept->digest))) {
      return smr::message(Accept{accept->instance, accept->regency, other->second->digest});
    }
  } else if (const auto* stop = std::get_if<StopData>(message.get())) {
    if (does(stuff_write_set)) return twist(*stop);
  } else if (const auto* sync = std::get_if<Sync>(message.get())) {
    if (does(old_collects)) return twist(*sync);
  } else if (const auto* vote = std::get_if<CheckpointVote>(message.get())) {
    if (does(false_state)) return twist(*vote);
  } else if ((lies_ & (false_chunk | false_state)) != 0 && random_.chance(0.9)) {
    if (const auto* chunk = std::get_if<Chunk>(message.get())) return twist(*chunk);
    if (const auto* suffix = std::get_if<LogSuffix>(message.get())) return twist(*suffix);
    if (const auto* fetched = std::get_if<FetchedBatch>(message.get())) return twist(*fetched);
    if (const auto* offer = std::get_if<StateOffer>(message.get())) return twist(*offer);
    if (const auto* manifest = std::get_if<Manifest>(message.get())) return twist(*manifest);
  }
  return message;
}

MessagePtr Liar::twist(ReplicaId to, const Propose& propose) {
  // It starves a client before all, and lies to one half about the rest.
  auto& other = others_[propose.batch->digest];
  if (!other) {
    other = other_batch(*propose.batch);
    if (all_see_other(propose)) hidden_.insert(propose.batch->digest);
  }
  if (!hidden_.contains(propose.batch->digest) && !other_face(to)) {
    return smr::message(Propose(propose));
  }
  return smr::message(Propose{propose.instance, propose.regency, other});
}

bool Liar::all_see_other(const Propose& propose) {
  if ((lies_ & (starve | forge | fast_clock)) != 0 && !does(equivocate)) return true;
  return does(overrule) && propose.regency > 0 && random_.chance(0.5);
}

BatchPtr Liar::other_batch(const Batch& batch) {
  std::vector<Request> requests;
  for (const Request& request : batch.requests) {
    if (does(starve) && Client::index_of(request.client) == 0) continue;
    requests.push_back(request);
  }
  if (does(forge)) requests.push_back(forged());
  std::uint64_t time = batch.time;
  if (does(fast_clock)) {
    clock_ahead_ += static_cast<std::int64_t>(random_.below(2'000'000'000));
    time = random_.chance(0.2) ? 0 : time + static_cast<std::uint64_t>(clock_ahead_);
  }
  const bool differs = (lies_ & (equivocate | overrule | two_proposals)) != 0;
  if (!differs) return make_batch(time, std::move(requests));
  if (!requests.empty() && random_.chance(0.5)) requests.pop_back();
  return make_batch(time + 1, std::move(requests));
}

// In the name of a client, with a proof that convinces the liar alone.
Request Liar::forged() {
  Request request;
  request.client = Client::id_of(static_cast<std::uint32_t>(random_.below(world_.plan().clients)));
  request.sequence = 1 + random_.below(world_.plan().operations + 5);
  if (!batches_.empty()) {
    // In a session that it has seen.
    const auto seen =
        std::next(batches_.begin(), static_cast<std::ptrdiff_t>(random_.below(batches_.size())));
    for (const Request& one : seen->second->requests) {
      if (one.session == 0) continue;
      request.client = one.client;
      request.session = one.session;
      request.sequence = one.sequence + 1 + random_.below(5);
    }
  }
  request.operation = encode(Op{.kind = Op::Kind::put,
                                .key = 1,
                                .value = 666,
                                .client = request.client,
                                .number = 1'000'000 + random_.below(1'000'000)});
  request.proof.resize(world_.replicas() * 8);
  for (ReplicaId replica = 0; replica < world_.replicas(); ++replica) {
    std::uint64_t tag = random_.next();
    if (replica == me_) tag = world_.keys().tag(me_, request);
    std::memcpy(request.proof.data() + replica * 8, &tag, 8);
  }
  return request;
}

Digest Liar::nonsense() {
  Digest digest{};
  const std::uint64_t word = random_.below(3);
  std::memcpy(digest.data(), &word, 8);
  return digest;
}

// It has voted for what nobody ever saw, in the highest regency, and several times over; or it says
// that it has done nothing at all.
MessagePtr Liar::twist(const StopData& stop) {
  StopData lie = stop;
  Collect& collect = lie.collect;
  if (random_.chance(0.3)) collect.entries.clear();
  if (random_.chance(0.2)) collect.proof.instance += random_.below(10);
  for (auto& entry : collect.entries) {
    const Vote vote{collect.regency > 0 ? collect.regency - 1 : 0,
                    random_.chance(0.5) || voted_.empty() ? nonsense() : voted_.rbegin()->second};
    if (random_.chance(0.5)) entry.certified = vote;
    if (random_.chance(0.3)) entry.certified.reset();
    for (auto times = random_.below(5); times > 0; --times) entry.written.push_back(vote);
  }
  if (collect.entries.empty() && random_.chance(0.5)) {
    CollectEntry entry;
    entry.instance = collect.proof.instance + 1;
    entry.certified = Vote{0, nonsense()};
    entry.written.push_back(*entry.certified);
    collect.entries.push_back(entry);
  }
  collect.signature = auth_.sign(signed_bytes(collect));
  return smr::message(std::move(lie));
}

// As they are, or under the number of this regency, to see whether anybody looks at the signature.
MessagePtr Liar::twist(const Sync& sync) {
  Sync lie = sync;
  const bool renumbered = random_.chance(0.5);
  for (Collect& collect : lie.collects) {
    const auto old = old_collects_.find(collect.from);
    if (old == old_collects_.end()) continue;
    collect = old->second;
    if (renumbered) collect.regency = sync.regency;
  }
  return smr::message(std::move(lie));
}

// ---- of its own accord ----------------------------------------------------------------------

void Liar::hear(ReplicaId from, const MessagePtr& message) {
  if (does(replay)) {
    heard_.push_back(message);
    if (heard_.size() > remembered) heard_.pop_front();
  }
  if (const auto* stop = std::get_if<StopData>(message.get())) {
    old_collects_.emplace(stop->collect.from, stop->collect);
  } else if (const auto* sync = std::get_if<Sync>(message.get())) {
    for (const Collect& collect : sync->collects) old_collects_.emplace(collect.from, collect);
  }
  if (does(false_decided)) {
    if (const auto* behind = std::get_if<Behind>(message.get())) {
      const Instance next = behind->decided + 1;
      say(from, smr::message(Decided{next, made_up(next)->digest}));
    } else if (const auto* fetch = std::get_if<FetchBatch>(message.get())) {
      const BatchPtr batch = made_up(fetch->instance);
      if (batch->digest == fetch->digest)
        say(from, smr::message(FetchedBatch{fetch->instance, batch}));
    }
  }
  std::optional<Write> seen;
  if (const auto* propose = std::get_if<Propose>(message.get())) {
    seen = Write{propose->instance, propose->regency, propose->batch->digest};
    batches_[propose->batch->digest] = propose->batch;
  } else if (const auto* write = std::get_if<Write>(message.get())) {
    seen = *write;
  }
  if (!seen) return;
  regency_ = std::max(regency_, seen->regency);
  voted_.insert({seen->instance, seen->digest});
  if (!does(double_vote) || from == me_ || !std::holds_alternative<Write>(*message)) return;
  if (!answered_.insert({seen->instance, seen->digest, from}).second) return;
  say(from, smr::message(Write(*seen)));
  say(from, smr::message(Accept{seen->instance, seen->regency, seen->digest}));
}

void Liar::act() {
  const auto somebody = static_cast<ReplicaId>(random_.below(world_.replicas()));
  if (does(replay) && !heard_.empty() && somebody != me_) {
    say(somebody, heard_[random_.below(heard_.size())]);
  }
  if (does(false_stop)) {
    say_to_all(smr::message(
        Stop{.view = 0, .regency = regency_ + static_cast<Regency>(random_.below(3))}));
  }
  if (does(forge) && somebody != me_) say(somebody, smr::message(Forward{{forged()}}));
}

BatchPtr Liar::made_up(Instance instance) const {
  const ClientId client = Client::id_of(0);
  Request request{.client = client, .sequence = 1'000'000 + instance};
  request.operation = encode(Op{.kind = Op::Kind::put,
                                .key = 1,
                                .value = 666,
                                .client = client,
                                .number = 2'000'000 + instance});
  return make_batch(instance, {std::move(request)});
}

Buffer Liar::false_view() const {
  SignedView alone{{.id = 1'000'000, .model = FaultModel::byzantine, .f = 0}, {}};
  alone.view.members.push_back({me_, concat("replica:", me_), ""});
  alone.signatures.push_back({me_, auth_.sign(signed_bytes(alone.view))});
  return encode(*smr::message(std::move(alone))).head;
}

Reply Liar::reply(const Reply& right) {
  Reply wrong = right;
  if (random_.chance(0.5) || !right.result || right.result->empty()) return wrong;
  Buffer bytes(*right.result);
  bytes.data()[random_.below(bytes.size())] ^= std::byte{1};
  wrong.result = std::make_shared<const Buffer>(std::move(bytes));
  return wrong;
}

}  // namespace piracema::smr_sim
