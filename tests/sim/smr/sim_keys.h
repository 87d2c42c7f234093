#pragma once

#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "smr/client/keyring.h"
#include "smr/request.h"
#include "smr/view.h"

namespace piracema::smr_sim {

/// Cheap stand-ins for MACs and signatures: 64 bits that nobody in a simulation guesses. Who has
/// which keys is as in life, and all that this is about.
class Keys {
 public:
  explicit Keys(std::uint64_t seed) : seed_(seed) {}

  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = (a ^ (b + 0x9E3779B97F4A7C15u)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 29)) * 0x94D049BB133111EBu;
    return x ^ (x >> 32);
  }
  static std::uint64_t hash(std::uint64_t start, Bytes bytes) {
    std::uint64_t h = mix(start, bytes.size());
    std::size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, 8);
      h = mix(h, word);
    }
    for (; i < bytes.size(); ++i) h = mix(h, static_cast<std::uint64_t>(bytes[i]));
    return h;
  }

  /// What the client puts into its proof for one replica; the simulator alone may ask for
  /// another's.
  std::uint64_t tag(smr::ReplicaId replica, const smr::Request& request) const {
    std::uint64_t h = mix(mix(seed_ + 1, request.client), replica);
    h = mix(mix(h, request.session), request.sequence);
    h = mix(mix(h, static_cast<std::uint64_t>(request.kind)), request.group);
    return hash(h, request.operation);
  }
  std::uint64_t signature(smr::ReplicaId signer, Bytes what) const {
    return hash(mix(seed_ + 2, signer), what);
  }

 private:
  const std::uint64_t seed_;
};

/// What one replica can check, and sign: its own keys and no others.
class SimAuthenticator final : public smr::Authenticator {
 public:
  SimAuthenticator(const Keys& keys, smr::ReplicaId me, smr::FaultModel model)
      : keys_(keys), me_(me), model_(model) {}

  /// The proof holds tags of replicas 0, 1, 2 … one behind the other; with crash faults nothing.
  bool verify(const smr::Request& request) const override {
    if (model_ == smr::FaultModel::crash) return true;
    if (request.proof.size() < (me_ + 1) * 8) return false;
    std::uint64_t tag = 0;
    std::memcpy(&tag, request.proof.data() + me_ * 8, 8);
    return tag == keys_.tag(me_, request);
  }
  Buffer sign(Bytes what) const override {
    const std::uint64_t signature = keys_.signature(me_, what);
    Buffer out;
    out.append(&signature, 8);
    return out;
  }
  bool verify(smr::ReplicaId signer, Bytes what, Bytes signature) const override {
    const std::uint64_t right = keys_.signature(signer, what);
    return signature.size() == 8 && std::memcmp(signature.data(), &right, 8) == 0;
  }

 private:
  const Keys& keys_;
  const smr::ReplicaId me_;
  const smr::FaultModel model_;
};

/// A client's: it proves to the members that it knows of, and to nobody else.
class SimKeyring final : public smr::client::Keyring {
 public:
  SimKeyring(const Keys& keys, smr::FaultModel model, std::size_t replicas)
      : keys_(keys), model_(model), replicas_(replicas) {}

  Result<Done> use_members(const std::vector<smr::MemberInfo>& members) override {
    members_.clear();
    for (const smr::MemberInfo& member : members) members_.insert(member.id);
    return Done{};
  }
  void prove(smr::Request& request) override {
    request.proof.clear();
    if (model_ == smr::FaultModel::crash) return;
    for (smr::ReplicaId replica = 0; replica < replicas_; ++replica) {
      const std::uint64_t tag = members_.contains(replica) ? keys_.tag(replica, request) : 0;
      request.proof.append(&tag, sizeof tag);
    }
  }
  bool verify(const smr::MemberInfo& signer, Bytes what, Bytes signature) const override {
    const std::uint64_t right = keys_.signature(signer.id, what);
    return signature.size() == 8 && std::memcmp(signature.data(), &right, 8) == 0;
  }

 private:
  const Keys& keys_;
  const smr::FaultModel model_;
  const std::size_t replicas_;
  std::set<smr::ReplicaId> members_;
};

}  // namespace piracema::smr_sim
