#pragma once

#include <map>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "smr/link/keys.h"
#include "smr/request.h"
#include "smr/view.h"

namespace piracema::smr {

/// Proves to each replica that a request is the client's (smr's `Request::proof`): a vector of
/// MACs, one for each replica, for what is frequent; a signature for `open`, `close` and
/// what changes the group. One thread.
class RequestProver {
 public:
  RequestProver(const KeyPair& client, FaultModel model);

  /// For which replicas; after each reconfiguration.
  Result<Done> use_members(const std::vector<MemberInfo>& members);

  void prove(Request& request);

 private:
  struct Keyed {
    ReplicaId id;
    MacKey key;
  };
  const KeyPair client_;
  const FaultModel model_;
  std::vector<Keyed> replicas_;
  Buffer scratch_;
};

/// What a replica knows about the keys of others. Any thread.
class KeyAuthenticator : public Authenticator {
 public:
  struct Client {
    ClientId id = 0;
    PublicKey key{};
  };

  /// `clients` are those of the configuration; `administrator` signs what changes the group.
  KeyAuthenticator(FaultModel model, ReplicaId me, const KeyPair& mine,
                   const std::vector<Client>& clients, std::optional<PublicKey> administrator);

  /// Learns the keys of replicas; those of earlier views stay known, for what they signed.
  Result<Done> use_members(const std::vector<MemberInfo>& members);

  bool verify(const Request& request) const override;
  Buffer sign(Bytes what) const override { return mine_.sign(what); }
  bool verify(ReplicaId signer, Bytes what, Bytes signature) const override;

  /// A client that came while the group runs, or that has another key now.
  void admit(const Client& client);
  void dismiss(ClientId client);

  std::optional<PublicKey> key_of(ReplicaId replica) const;
  /// nullopt: no client of this group.
  std::optional<PublicKey> key_of_client(ClientId client) const;

 private:
  struct Known {
    PublicKey key;
    MacKey shared;
  };
  bool has_tag(const Request& request, const MacKey& key) const;
  std::optional<Known> known(ClientId client) const;

  const FaultModel model_;
  const ReplicaId me_;
  const KeyPair mine_;
  const std::optional<PublicKey> administrator_;
  mutable std::shared_mutex clients_mutex_, members_mutex_;
  std::unordered_map<ClientId, Known> clients_;
  std::map<ReplicaId, PublicKey> members_;
};

}  // namespace piracema::smr
