#pragma once

#include <piracema/smr/configuration.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "smr/link/authenticator.h"
#include "smr/link/handshake.h"
#include "smr/service/admissions.h"
#include "smr/view.h"

namespace piracema::smr {

/// Whom a replica knows, and by which keys: the members of the views, replicas that are to be
/// added, clients, and the processes of the replicas, which are clients too. No link, no clock. One
/// thread, but for the authenticator.
class KnownPeers {
 public:
  /// The configuration is valid, and `me` one of its replicas.
  KnownPeers(const Configuration& configuration, ReplicaId me, const KeyPair& key);

  const KeyAuthenticator& authenticator() const { return authenticator_; }

  /// The view that rules, and the last that members of the one before have signed.
  const View& view() const { return view_; }
  const View& newest_view() const { return newest_view_; }
  bool is_member() const { return view_.has(me_); }

  // After each of these that brings news: meet.

  /// It rules from now on. False if it is without this replica, which was a member before.
  bool use(const View& view);
  /// Members of the view before it have signed it; true if that is news.
  bool prove(const View& view);
  /// Clients and learners that come, go, or get another key.
  struct Admitted {
    /// A replica may fetch the state, or no longer may.
    bool learners = false;
    /// Links that these clients have were made with a key that counts no more.
    std::vector<ClientId> other_keys;
  };
  Admitted admit(const std::vector<Admission>& some);

  /// Learns the keys of everybody whom it speaks to. Errc::config for a key that is none.
  Result<Done> meet();
  /// Whom this replica speaks to, itself included: members of the view and of the newest one that
  /// was proven, learners, and whom the configuration says to have been added. Nobody once it was
  /// taken out: it has nothing to say to the others, and clients it sends to them.
  std::vector<MemberInfo> to_meet() const;

  /// By what key somebody who dials has to show who it is; nullopt: nobody of that name is known.
  std::optional<PublicKey> key_of(const PeerName& name) const;
  /// Whether one of those that it speaks to is to be reached at this host.
  bool is_member_host(const std::string& host) const { return member_hosts_.contains(host); }

 private:
  std::vector<MemberInfo> reachable() const;
  bool admit_learner(const Admission& one);
  void know_processes(const std::vector<MemberInfo>& members);

  const ReplicaId me_;
  const std::optional<PublicKey> administrator_;
  const std::vector<MemberInfo> added_;
  KeyAuthenticator authenticator_;
  View view_, newest_view_;
  bool was_member_;
  /// Replicas that are to be added, and are let in to fetch the state; without an address.
  std::map<ReplicaId, MemberInfo> learners_;
  /// The replicas whose processes are known as clients.
  std::set<ReplicaId> processes_;
  std::set<std::string> member_hosts_;
};

}  // namespace piracema::smr
