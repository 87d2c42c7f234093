#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "smr/link/client_wire.h"
#include "smr/view.h"

namespace piracema::smr::client {

/// What a client knows of the group: who its members are, who leads, who can be reached.
class KnownGroup {
 public:
  /// `added` may know of a later view.
  KnownGroup(View view, std::vector<MemberInfo> added);

  const View& view() const { return view_; }
  bool is_byzantine() const { return view_.model == FaultModel::byzantine; }
  void use_view(const View& view) { view_ = view; }
  void meet(const std::vector<MemberInfo>& some);

  // ---- links ---------------------------------------------------------------------------------

  /// Members, and those who may tell who the members are when all of these have gone.
  struct Calls {
    std::vector<MemberInfo> begin;
    std::vector<ReplicaId> end;
  };
  /// Whom to call besides, and whom no more, since it was asked for last.
  Calls change_calls();
  /// Nothing happens for one that is not to be called.
  void up(ReplicaId replica);
  /// Whether it was up.
  bool down(Time now, ReplicaId replica, std::string why, bool is_refused);
  template <class Visit>
  void each_up(Visit visit) const {
    for (const auto& [id, link] : links_) {
      if (link.is_up) visit(id);
    }
  }
  std::size_t links() const;
  /// A quorum has said for so long that it does not know this client.
  bool is_stranger(Time now) const;

  // ---- what replicas say of themselves -------------------------------------------------------

  /// Whether somebody else leads now. Among liars it is a hint for people, and never so.
  bool hear(ReplicaId from, const Standing& standing);
  void hear(ReplicaId from, StatusTold status) { statuses_[from] = std::move(status); }
  ReplicaId leader() const { return leader_; }
  /// With crash faults, the leader if it is up: it alone is asked.
  std::optional<ReplicaId> leader_to_ask() const;
  /// nullopt while no replica has told.
  const std::optional<Standing>& standing() const { return standing_; }
  /// Who leads the view, as one_correct() of its members say; nullopt if they do not say the same.
  std::optional<ReplicaId> believed_leader() const;
  /// Until their links end.
  const std::map<ReplicaId, StatusTold>& statuses() const { return statuses_; }
  /// How many of its members say that it has begun, and know of no later one.
  std::size_t arrived() const;
  bool has_arrived(ReplicaId member) const;
  /// For people: why replicas cannot be reached; empty if all are.
  std::string trouble() const;
  /// Why that one cannot; empty if it can, or nothing is known.
  std::string trouble_with(ReplicaId replica) const;

 private:
  struct LinkState {
    bool is_up = false;
    /// Why the last attempt failed.
    std::string why;
    /// Since when the replica says that it does not know us, if it can be reached.
    std::optional<Time> refused_since;
  };

  View view_;
  std::vector<MemberInfo> added_;
  std::map<ReplicaId, LinkState> links_;
  /// The last word of each replica; and of whoever is to be believed about the leader.
  std::map<ReplicaId, Standing> told_;
  std::map<ReplicaId, StatusTold> statuses_;
  std::optional<Standing> standing_;
  ReplicaId leader_ = 0;
};

}  // namespace piracema::smr::client
