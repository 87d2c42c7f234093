#include "sim/smr/oracle.h"

#include "base/text.h"
#include "linearizability/checker.h"
#include "sim/smr/sim_keys.h"
#include "smr/order/messages/digest.h"

namespace piracema::smr_sim {

namespace {

std::uint64_t contents_of(const smr::Batch& batch) {
  std::uint64_t hash = Keys::mix(batch.time, batch.requests.size());
  for (const smr::Request& request : batch.requests) {
    hash = Keys::mix(Keys::mix(hash, request.client), request.session);
    hash = Keys::mix(Keys::mix(hash, request.sequence), static_cast<std::uint64_t>(request.kind));
    hash = Keys::hash(Keys::mix(hash, request.group), request.operation);
  }
  return hash;
}
/// A holder's clock may be a tenth wrong (smr.md section 6, G3).
Time trusted(const Op& op) { return Time(op.value * 9 / 10); }
LeaseModel::Kind lease_kind(const Op& op) {
  return static_cast<LeaseModel::Kind>(static_cast<int>(op.kind) -
                                       static_cast<int>(Op::Kind::acquire));
}

}  // namespace

void Oracle::complain(const std::string& what) {
  if (complaints_.size() < 10) complaints_.push_back(concat(now_.count() / 1'000, " us: ", what));
}

void Oracle::decided(smr::ReplicaId replica, smr::Instance instance, const smr::Batch& batch) {
  const Decided mine{batch.digest, contents_of(batch), replica};
  const auto [found, is_new] = decided_.try_emplace(instance, mine);
  if (is_new) {
    if (instance == histories_.size() + 1) {
      const smr::Digest before = histories_.empty() ? smr::Digest{} : histories_.back();
      histories_.push_back(smr::digest_of(before, batch.digest));
    }
    // A tenth is allowed, clocks are wrong by less than half of that, and there is a credit, which
    // those have anew who restart.
    const Time most = now_ + now_ / 6 + std::chrono::seconds(3);
    if (bounded_clock_ && batch.time > static_cast<std::uint64_t>(most.count())) {
      complain(concat("clock: the batch of instance ", instance, " is from ", batch.time / 1'000,
                      " us"));
    }
    for (const smr::Request& request : batch.requests) {
      if (const auto op = decode_op(request.operation)) ordered_[{op->client, op->number}] += 1;
    }
  } else if (found->second.digest != mine.digest || found->second.contents != mine.contents) {
    complain(concat("agreement: replicas ", found->second.first, " and ", replica,
                    " decided differently in instance ", instance));
  }
}

void Oracle::reached(smr::ReplicaId replica, smr::Instance instance, std::uint64_t state) {
  const auto [found, is_new] = states_.try_emplace(instance, state, replica);
  if (!is_new && found->second.first != state) {
    complain(concat("states: replicas ", found->second.second, " and ", replica,
                    " differ after instance ", instance));
  }
}

void Oracle::checkpoint_due(smr::ReplicaId replica, smr::Instance instance, bool worth_it) {
  const auto [found, is_new] = checkpoints_due_.try_emplace(instance, worth_it, replica);
  if (!is_new && found->second.first != worth_it) {
    complain(concat("checkpoints: of replicas ", found->second.second, " and ", replica,
                    " one alone takes one at instance ", instance));
  }
}

void Oracle::checkpoint(smr::ReplicaId replica, smr::Instance instance, const smr::Digest& digest) {
  const auto [found, is_new] = checkpoints_.try_emplace(instance, digest, replica);
  if (!is_new && found->second.first != digest) {
    complain(concat("checkpoints: those of replicas ", found->second.second, " and ", replica,
                    " differ at instance ", instance));
  }
}

void Oracle::proven(smr::ReplicaId replica, smr::Instance instance, const smr::Digest& history) {
  if (instance == 0) return;
  if (instance > histories_.size() || histories_[instance - 1] != history) {
    complain(concat("proofs: replica ", replica, " believes a proof of instance ", instance,
                    " that is not true"));
  }
}

void Oracle::uses_view(smr::ReplicaId replica, const smr::View& view) {
  std::string what = concat("f = ", view.f);
  for (const smr::MemberInfo& member : view.members) what += concat(", ", member.id);
  const auto [found, is_new] = views_.try_emplace(view.id, what, replica);
  if (!is_new && found->second.first != what) {
    complain(concat("views: ", view.id, " is ", found->second.first, " for replica ",
                    found->second.second, " and ", what, " for replica ", replica));
  }
}

std::size_t Oracle::called(std::uint64_t client, const Op& op) {
  Call call{op, now_};
  if (is_lease(op)) {
    call.history = leases_.called(client, {lease_kind(op), op.key, op.client, op.value});
  } else {
    call.history =
        map_.called(client, {static_cast<MapModel::Kind>(op.kind), op.key, op.value, op.expected});
  }
  // From now on the client trusts in no more than this gives it: the service may forget what it had
  // before. Who gives a lease back lets go before it asks.
  const Time rest = op.kind == Op::Kind::release ? Time{} : trusted(op);
  if (is_lease(op)) {
    for (Belief& old : beliefs_[op.key]) {
      if (old.client == op.client) old.until = std::min(old.until, now_ + rest);
    }
  }
  calls_.push_back(call);
  return calls_.size() - 1;
}

void Oracle::answered(std::size_t operation, const OpReply& reply) {
  Call& call = calls_[operation];
  if (call.answered) return complain("a client was answered twice");
  call.answered = true;
  answered_ += 1;
  if (is_lease(call.op)) {
    leases_.answered(call.history, {reply.done, reply.value.value_or(0), reply.time});
    believe(call, reply);
  } else {
    map_.answered(call.history, {reply.value, reply.done});
  }
}

// A holder counts from when it asked.
void Oracle::believe(const Call& call, const OpReply& reply) {
  if (!reply.done || call.op.kind == Op::Kind::release) return;
  auto& list = beliefs_[call.op.key];
  const std::uint64_t token = reply.value.value_or(0);
  const Belief belief{call.op.client, token, now_, call.at + trusted(call.op)};
  if (belief.from >= belief.until) return;
  for (const Belief& old : list) {
    const bool both = old.from < belief.until && belief.from < old.until;
    if (old.client != belief.client && both && !clocks_jump_) {
      complain(concat("leases: clients ", old.client, " and ", belief.client, " both have lease ",
                      call.op.key));
    }
    if (old.client != belief.client && old.token == token) {
      complain(concat("tokens: two clients have token ", token, " of lease ", call.op.key));
    }
  }
  list.push_back(belief);
}

void Oracle::judge() {
  for (const Call& call : calls_) {
    const auto found = ordered_.find({call.op.client, call.op.number});
    const int times = found == ordered_.end() ? 0 : found->second;
    if (call.answered && call.op.kind != Op::Kind::get && times == 0) {
      complain(concat("lost: operation ", call.op.number, " of client ", call.op.client,
                      " was acknowledged and is nowhere"));
    }
  }
  const auto maps = linearizability::check<MapModel>(map_.operations(), 2'000'000);
  if (maps.is == linearizability::Verdict::Is::impossible) complain("history: " + maps.why);
  const auto leases = linearizability::check<LeaseModel>(leases_.operations(), 2'000'000);
  if (leases.is == linearizability::Verdict::Is::impossible) complain("leases: " + leases.why);
}

}  // namespace piracema::smr_sim
