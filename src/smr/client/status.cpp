#include <piracema/smr/status.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/text.h"
#include "smr/client/client_engine.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {

/// Calls all of them at once.
class Asking {
 public:
  Asking(const Configuration& configuration, ClientId client, const KeyPair& key)
      : self_{configuration.name, {PeerName::Role::client, client}, key} {
    for (const auto& replica : configuration.replicas) call(replica);
  }

  void wait(Time deadline) {
    const auto answered = [this](const auto& each) { return told_.contains(each.first); };
    while (now() < deadline && !std::all_of(callers_.begin(), callers_.end(), answered)) {
      flush_list_.flush();
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now());
      poller_.run_once(std::max(left, std::chrono::milliseconds(0)));
      // Nobody listens there: who waits for it would wait for all of the time.
      if (std::all_of(callers_.begin(), callers_.end(), [&](const auto& each) {
            return answered(each) || !each.second->why().empty();
          })) {
        return;
      }
    }
  }

  ReplicaStatus status_of(const Configuration::Replica& replica) const {
    ReplicaStatus status{.id = replica.id, .address = replica.address};
    const auto told = told_.find(replica.id);
    if (told == told_.end()) {
      const std::string& why = callers_.at(replica.id)->why();
      status.trouble = why.empty() ? "no answer in time" : why;
      return status;
    }
    const StatusTold& one = told->second;
    status.view = one.view;
    status.regency = one.regency;
    status.leader = one.leader;
    status.decided = one.decided;
    status.is_member = one.is_member;
    status.silent = one.silent;
    status.clients = one.clients;
    status.connected = one.connected;
    status.pieces = one.pieces;
    status.pieces_of = one.pieces_of;
    return status;
  }

 private:
  void call(const Configuration::Replica& replica) {
    Link::Events events;
    events.known = [](Link& link) { link.send(status_kind, {}); };
    events.received = [this, id = replica.id](Link&, std::uint8_t kind, Bytes message) {
      if (kind != status_reply_kind) return;
      if (auto told = decode_status(message)) told_[id] = *std::move(told);
    };
    callers_[replica.id] = std::make_unique<Caller>(
        poller_, flush_list_, self_,
        Caller::Whom{{PeerName::Role::replica, replica.id},
                     *parse_public_key(replica.public_key),
                     *net::HostPort::parse(replica.address)},
        std::move(events), Link::Limits{.message_bytes = std::size_t{32} << 20});
  }

  net::Poller poller_;
  FlushList flush_list_;
  const Self self_;
  std::map<ReplicaId, StatusTold> told_;
  std::map<ReplicaId, std::unique_ptr<Caller>> callers_;
};

}  // namespace

Result<GroupStatus> ask_status(const Configuration& configuration, const StatusOptions& options) {
  if (auto valid = validate(configuration); !valid) return valid.error();
  const auto key = read_key(options.key_file);
  if (!key) return key.error();
  Asking asking(configuration, options.client, *key);
  asking.wait(now() + options.timeout);

  GroupStatus group;
  for (const auto& replica : configuration.replicas) {
    group.replicas.push_back(asking.status_of(replica));
  }
  View view = view_of(configuration);
  std::uint32_t newest = 0;
  for (const ReplicaStatus& one : group.replicas) {
    if (one.trouble.empty()) newest = std::max(newest, one.view);
  }
  // Members of a later view are those that say so, and those that they are connected to.
  if (newest > view.id) {
    std::map<std::uint32_t, MemberInfo> members;
    for (const ReplicaStatus& one : group.replicas) {
      if (!one.trouble.empty() || !one.is_member || one.view != newest) continue;
      members[one.id] = {one.id, one.address, ""};
      for (const std::uint32_t id : one.connected) members.try_emplace(id, MemberInfo{id, "", ""});
    }
    view.members.clear();
    for (auto& [id, member] : members) view.members.push_back(std::move(member));
  }
  group.wanted = view.quorum();
  std::map<std::uint32_t, std::size_t> followers;
  for (const ReplicaStatus& one : group.replicas) {
    if (!one.trouble.empty() || one.silent || !one.is_member || one.view != newest) continue;
    group.here += 1;
    followers[one.leader] += 1;
  }
  for (const ReplicaStatus& one : group.replicas) {
    const bool takes_part = one.trouble.empty() && !one.silent && one.leader == one.id;
    if (takes_part && followers[one.id] >= group.wanted) group.leader = one.id;
  }
  return group;
}

}  // namespace piracema::smr
