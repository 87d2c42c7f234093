#include "smr/link/authenticator.h"

#include <mutex>

#include "base/text.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::smr {

namespace {

// The first byte of a proof.
constexpr std::uint8_t vector_of_macs = 1;
constexpr std::uint8_t signature = 2;
// Of a replica in the vector: its number, then its tag.
constexpr std::size_t entry_bytes = 4 + sizeof(Tag);

constexpr std::string_view request_label = "piracema smr request";

bool is_rare(Kind kind) { return kind != Kind::ordered && kind != Kind::parallel; }

/// What is proved: all of the request but the proof.
void write_proved(const Request& request, Buffer& out) {
  out.clear();
  wire::Writer writer(out);
  writer.number(request.client);
  writer.number(request.session);
  writer.number(request.sequence);
  writer.number(static_cast<std::uint8_t>(request.kind));
  writer.number(request.group);
  out.append(request.operation.data(), request.operation.size());
}

}  // namespace

RequestProver::RequestProver(const KeyPair& client, FaultModel model)
    : client_(client), model_(model) {}

Result<Done> RequestProver::use_members(const std::vector<MemberInfo>& members) {
  std::vector<Keyed> replicas;
  for (const MemberInfo& member : members) {
    const auto key = parse_public_key(member.public_key);
    if (!key) return key.error();
    replicas.push_back({member.id, client_.shared_with(*key, request_label)});
  }
  replicas_ = std::move(replicas);
  return Done{};
}

void RequestProver::prove(Request& request) {
  request.proof.clear();
  wire::Writer writer(request.proof);
  if (is_rare(request.kind)) {
    write_proved(request, scratch_);
    writer.number(signature);
    const Buffer signed_by_us = client_.sign(scratch_);
    request.proof.append(signed_by_us.data(), signed_by_us.size());
    return;
  }
  // Replicas that only crash believe each other, and who the client is the link has shown.
  if (model_ == FaultModel::crash) return;
  write_proved(request, scratch_);
  request.proof.reserve(1 + entry_bytes * replicas_.size());
  writer.number(vector_of_macs);
  for (const Keyed& replica : replicas_) {
    writer.number(replica.id);
    const Tag tag = mac(replica.key, scratch_);
    request.proof.append(tag.data(), tag.size());
  }
}

KeyAuthenticator::KeyAuthenticator(FaultModel model, ReplicaId me, const KeyPair& mine,
                                   const std::vector<Client>& clients,
                                   std::optional<PublicKey> administrator)
    : model_(model), me_(me), mine_(mine), administrator_(administrator) {
  for (const Client& client : clients) {
    admit(client);
  }
}

void KeyAuthenticator::admit(const Client& client) {
  const Known known{client.key, mine_.shared_with(client.key, request_label)};
  const std::unique_lock lock(clients_mutex_);
  clients_.insert_or_assign(client.id, known);
}

void KeyAuthenticator::dismiss(ClientId client) {
  const std::unique_lock lock(clients_mutex_);
  clients_.erase(client);
}

std::optional<KeyAuthenticator::Known> KeyAuthenticator::known(ClientId client) const {
  const std::shared_lock lock(clients_mutex_);
  const auto found = clients_.find(client);
  return found == clients_.end() ? std::nullopt : std::optional(found->second);
}

Result<Done> KeyAuthenticator::use_members(const std::vector<MemberInfo>& members) {
  std::map<ReplicaId, PublicKey> keys;
  for (const MemberInfo& member : members) {
    const auto key = parse_public_key(member.public_key);
    if (!key) return key.error();
    keys[member.id] = *key;
  }
  std::unique_lock lock(members_mutex_);
  for (const auto& [id, key] : keys) members_[id] = key;
  return Done{};
}

bool KeyAuthenticator::verify(const Request& request) const {
  if (is_rare(request.kind)) {
    std::optional<PublicKey> signer;
    if (is_for_administrators(request.kind)) {
      signer = administrator_;
    } else if (const auto client = known(request.client)) {
      signer = client->key;
    }
    const Bytes proof = request.proof;
    if (!signer || proof.empty() || proof[0] != std::byte{signature}) return false;
    Buffer proved;
    write_proved(request, proved);
    return verify_signature(*signer, proved, proof.subspan(1));
  }
  const auto client = known(request.client);
  if (!client) return false;
  return model_ == FaultModel::crash || has_tag(request, client->shared);
}

bool KeyAuthenticator::has_tag(const Request& request, const MacKey& key) const {
  Bytes proof = request.proof;
  if (proof.size() % entry_bytes != 1 || proof[0] != std::byte{vector_of_macs}) return false;
  for (proof = proof.subspan(1); !proof.empty(); proof = proof.subspan(entry_bytes)) {
    if (wire::Reader(proof).number<ReplicaId>() != me_) continue;
    thread_local Buffer proved;
    write_proved(request, proved);
    return same_tag(mac(key, proved), proof.subspan(4, sizeof(Tag)));
  }
  return false;
}

bool KeyAuthenticator::verify(ReplicaId signer, Bytes what, Bytes proof) const {
  const auto key = key_of(signer);
  return key && verify_signature(*key, what, proof);
}

std::optional<PublicKey> KeyAuthenticator::key_of(ReplicaId replica) const {
  std::shared_lock lock(members_mutex_);
  const auto found = members_.find(replica);
  return found == members_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<PublicKey> KeyAuthenticator::key_of_client(ClientId client) const {
  const auto found = known(client);
  return found ? std::optional(found->key) : std::nullopt;
}

}  // namespace piracema::smr
