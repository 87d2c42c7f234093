#include <piracema/smr/administrator.h>

#include <algorithm>

#include "base/text.h"
#include "smr/client/client_engine.h"
#include "smr/order/views/newcomers.h"
#include "smr/order/views/reconfiguration.h"
#include "smr/service/admissions.h"

namespace piracema::smr {

namespace {

/// How often replicas are asked how far they are, and how often it is said what is waited for.
constexpr std::chrono::milliseconds ask_interval{100}, tell_interval{1'000};
/// For a word to the group when a change is given up.
constexpr std::chrono::milliseconds forget_time{1'000};
/// How long nothing can happen that nobody tells of.
constexpr std::chrono::milliseconds look_again{20};

// Another administrator's change may have come first, or more of them since.
bool is_applied(const ViewChange& change, const View& view) {
  const auto is_there = [&](const MemberInfo& added) {
    return std::any_of(view.members.begin(), view.members.end(), [&](const MemberInfo& member) {
      return member.id == added.id && member.address == added.address &&
             member.public_key == added.public_key;
    });
  };
  return std::none_of(change.remove.begin(), change.remove.end(),
                      [&](ReplicaId gone) { return view.has(gone); }) &&
         std::all_of(change.add.begin(), change.add.end(), is_there) &&
         (!change.f || *change.f == view.f);
}

Members members_of(const View& view) {
  Members members{view.id, view.f, {}};
  for (const MemberInfo& member : view.members) {
    members.replicas.push_back({member.id, member.address, member.public_key});
  }
  std::sort(members.replicas.begin(), members.replicas.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  return members;
}

}  // namespace

struct Administrator::Parts {
  Parts(const Configuration& configuration, const KeyPair& key, const AdministratorOptions& options)
      : timeout(std::chrono::duration_cast<Time>(options.timeout)),
        waits_for(options.waits_for),
        given_up(options.given_up),
        engine(poller, flush_list, configuration, administrator_id, key, ClientEngine::Retry{}) {}

  /// Works until `ready`; false if it is not by `deadline`, or its owner has given up.
  template <class Ready>
  bool wait(Time deadline, Ready ready) {
    while (!ready()) {
      if (now() >= deadline || has_given_up()) return false;
      flush_list.flush();
      poller.run_once(look_again);
    }
    return true;
  }
  bool has_given_up() const { return given_up && given_up(); }
  Error late(std::string_view what) const {
    if (has_given_up()) return {Errc::refused, "given up by whoever has asked"};
    const std::string trouble = engine.trouble();
    return {Errc::timeout,
            concat(what, trouble.empty() ? "" : " (", trouble, trouble.empty() ? "" : ")")};
  }

  Result<Done> look_around(Time deadline);
  Result<Done> wait_for_newcomers(const std::vector<MemberInfo>& added);
  void forget_learners(const std::vector<MemberInfo>& added);
  Result<Buffer> ask(Kind kind, Buffer operation, Time deadline);

  const Time timeout;
  const std::function<void(const std::string&)> waits_for;
  const std::function<bool()> given_up;
  net::Poller poller;
  FlushList flush_list;
  ClientEngine engine;
};

// A quorum of the newest view that anybody has proven says that it is the newest. With liars every
// later one was signed by a quorum of it, and the two have a correct replica in common. With crash
// faults a later one may be on its way to all of them: what is asked for then is meant for another
// view than rules, so it changes nothing and is asked for again.
Result<Done> Administrator::Parts::look_around(Time deadline) {
  if (wait(deadline, [&] { return engine.arrived() >= engine.view().quorum(); })) return Done{};
  return late("no quorum of the replicas says who they are");
}

// They are learners: they fetch the state and follow, without a voice. In the quorums of the group
// they are from the moment at which the change has its place in the order.
Result<Done> Administrator::Parts::wait_for_newcomers(const std::vector<MemberInfo>& added) {
  if (added.empty()) return Done{};
  engine.meet(added);
  for (const MemberInfo& one : added) {
    // Or the members would not let it in.
    const auto let_in =
        ask(Kind::admit, encode(Admission{learner_of(one.id), one.public_key}), now() + timeout);
    if (!let_in) return let_in.error();
  }
  std::vector<ReplicaId> ids;
  for (const MemberInfo& one : added) ids.push_back(one.id);
  const ViewId view = engine.view().id;
  Newcomers newcomers(engine.view(), ids);
  Time deadline = now() + timeout, ask_at{}, tell_at = now() + Time(tell_interval) / 4;
  const auto look = [&] {
    const Time time = now();
    if (time >= ask_at) {
      engine.ask_statuses();
      ask_at = time + Time(ask_interval);
    }
    const std::uint64_t before = newcomers.steps();
    for (const auto& [id, told] : engine.statuses()) {
      newcomers.told(time, id, {told.decided, told.silent, told.pieces, told.pieces_of});
    }
    for (const ReplicaId id : ids) {
      if (!engine.statuses().contains(id)) newcomers.lost(id, engine.trouble_with(id));
    }
    if (newcomers.steps() > before) deadline = time + timeout;
    if (newcomers.are_near() || engine.view().id != view) return true;
    if (waits_for && time >= tell_at) {
      tell_at = time + Time(tell_interval);
      waits_for(newcomers.waits_for());
    }
    return false;
  };
  while (!look()) {
    if (has_given_up()) return late("");
    if (now() >= deadline) {
      return Error{Errc::timeout, concat("nothing is changed, as not all that are to be added "
                                         "have caught up: ",
                                         newcomers.waits_for())};
    }
    flush_list.flush();
    poller.run_once(look_again);
  }
  return Done{};
}

Result<Buffer> Administrator::Parts::ask(Kind kind, Buffer operation, Time deadline) {
  // It may come when nobody waits for it any more.
  const auto answer = std::make_shared<std::optional<Result<Buffer>>>();
  engine.order(kind, 0, std::move(operation), deadline,
               [answer](Result<Buffer> result) { *answer = std::move(result); });
  // It is told by the deadline at the latest.
  if (!wait(Time::max(), [&] { return answer->has_value(); })) return late("");
  return **std::move(answer);
}

Result<std::unique_ptr<Administrator>> Administrator::open(const Configuration& configuration,
                                                           const AdministratorOptions& options) {
  if (auto valid = validate(configuration); !valid) return valid.error();
  if (configuration.administrator.empty()) {
    return Error{Errc::config,
                 "group.administrator: want a public key in the configuration, found none: nobody "
                 "may change this group"};
  }
  const auto key = read_key(options.key_file);
  if (!key) return key.error();
  if (*parse_public_key(configuration.administrator) != key->public_key()) {
    return Error{Errc::config,
                 concat("key file ", options.key_file, ": its public key ",
                        hex_of(key->public_key()), " is not that of the administrator")};
  }
  return std::unique_ptr<Administrator>(
      new Administrator(std::make_unique<Parts>(configuration, *key, options)));
}

Administrator::Administrator(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Administrator::~Administrator() = default;

Result<Members> Administrator::members() {
  if (auto looked = parts_->look_around(now() + parts_->timeout); !looked) return looked.error();
  return members_of(parts_->engine.view());
}

Result<Members> Administrator::change(const MembersChange& change) {
  Time deadline = now() + parts_->timeout;
  ClientEngine& engine = parts_->engine;
  ViewChange wanted;
  wanted.remove = change.remove;
  wanted.f = change.f;
  for (const auto& one : change.add) wanted.add.push_back({one.id, one.address, one.public_key});
  do {
    if (auto looked = parts_->look_around(deadline); !looked) return looked.error();
    wanted.from = engine.view().id;
    if (const auto next = next_view(engine.view(), encode(wanted)); !next) return next.error();
    if (!change.at_once) {
      if (auto near = parts_->wait_for_newcomers(wanted.add); !near) {
        parts_->forget_learners(wanted.add);
        return near.error();
      }
      deadline = now() + parts_->timeout;
      if (engine.view().id != wanted.from) continue;  // Another change came first.
    }
    wanted.leader = engine.believed_leader();
    const auto asked = parts_->ask(Kind::reconfigure, encode(wanted), deadline);
    if (!asked) return asked.error();
  } while (!is_applied(wanted, engine.view()));
  const bool in_force =
      parts_->wait(deadline, [&] { return engine.arrived() >= engine.view().one_correct(); });
  if (!in_force) return parts_->late("the change is decided, but not in force yet");
  if (!change.at_once) parts_->forget_learners(wanted.add);
  const auto are_here = [&] {
    return std::all_of(wanted.add.begin(), wanted.add.end(), [&](const MemberInfo& added) {
      return !engine.view().has(added.id) || engine.has_arrived(added.id);
    });
  };
  if (!parts_->wait(deadline, are_here)) {
    return parts_->late("the change is in force, but not all that were added have caught up");
  }
  return members_of(engine.view());
}

// Members are let in as such, and who has become none has nothing to fetch. If the group does not
// answer they may do so for longer.
void Administrator::Parts::forget_learners(const std::vector<MemberInfo>& added) {
  for (const MemberInfo& one : added) {
    (void)ask(Kind::admit, encode(Admission{learner_of(one.id), ""}), now() + Time(forget_time));
  }
}

Result<Done> Administrator::admit(std::uint64_t client, const std::string& public_key) {
  if (client >= learner_base) {
    return Error{Errc::config, concat("want a client below ", learner_base, ", found ", client)};
  }
  const auto key = parse_public_key(public_key);
  if (!key) return key.error();
  auto answer =
      parts_->ask(Kind::admit, encode(Admission{client, hex_of(*key)}), now() + parts_->timeout);
  if (!answer) return answer.error();
  return Done{};
}

Result<Done> Administrator::dismiss(std::uint64_t client) {
  auto answer = parts_->ask(Kind::admit, encode(Admission{client, ""}), now() + parts_->timeout);
  if (!answer) return answer.error();
  return Done{};
}

}  // namespace piracema::smr
