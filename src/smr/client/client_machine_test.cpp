#include "smr/client/client_machine.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "smr/order/messages/batch.h"
#include "smr/order/messages/statements.h"
#include "smr/testing.h"
#include "wire/fields.h"

namespace piracema::smr::client {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Signatures that anybody could forge; proofs that say whom they convince.
class OpenKeyring final : public Keyring {
 public:
  Result<Done> use_members(const std::vector<MemberInfo>& members) override {
    members_.clear();
    for (const MemberInfo& member : members) members_ += std::to_string(member.id);
    return Done{};
  }
  void prove(Request& request) override { request.proof = Buffer(as_bytes(members_)); }
  bool verify(const MemberInfo& signer, Bytes what, Bytes signature) const override {
    return as_text(signature) == concat(signer.id, as_text(what));
  }
  static Signature sign(ReplicaId signer, Bytes what) {
    return {signer, Buffer(as_bytes(concat(signer, as_text(what))))};
  }

 private:
  std::string members_;
};

/// A machine, and the end of each of its wires.
struct Desk {
  static constexpr std::uint64_t life = 11;

  explicit Desk(FaultModel model, ClientId id = 7)
      : machine({.id = id,
                 .operation_bytes_max = 100,
                 .retry = {},
                 .first_number = 1'000,
                 .life = life},
                test_view(model, model == FaultModel::crash ? 3 : 4), {}, keys) {
    step(Tick{});
    for (const MemberInfo& member : machine.group().view().members) step(LinkUp{member.id});
  }

  void step(Event event) { machine.step(now, std::move(event), actions); }
  void run_until(Time end) {
    while (machine.next_deadline() && *machine.next_deadline() <= end) {
      now = std::max(now, *machine.next_deadline());
      step(Tick{});
    }
    now = end;
  }

  Ticket order(std::string_view operation) {
    step(OrderWanted{.ticket = ++tickets,
                     .operation = Buffer(as_bytes(operation)),
                     .deadline = now + seconds(100)});
    return tickets;
  }
  /// The requests that were sent to this replica since it was asked last.
  std::vector<Request> requests(ReplicaId to) {
    std::vector<Request> requests;
    std::erase_if(actions, [&](const Action& action) {
      const auto* send = std::get_if<Send>(&action);
      if (send == nullptr || send->to != to || send->kind != submit_kind) return false;
      auto request = decode_request(*send->message);
      REQUIRE(request.ok());
      requests.push_back(*std::move(request));
      return true;
    });
    return requests;
  }
  void reply(ReplicaId from, const Request& request, Bytes result,
             ReplyStatus status = ReplyStatus::done) {
    Buffer message = wire::encode(ReplyHead{request.session, request.sequence, status});
    message.append(result.data(), result.size());
    step(Heard{from, reply_kind, message});
  }
  /// All of them have opened this one.
  void open(std::uint64_t session, std::uint32_t window = 256, std::uint64_t of = life) {
    std::vector<std::pair<ReplicaId, Request>> asked;
    for (const MemberInfo& member : machine.group().view().members) {
      for (Request& request : requests(member.id)) asked.emplace_back(member.id, request);
    }
    for (const auto& [replica, request] : asked) {
      if (request.kind != Kind::open) continue;
      reply(replica, request, wire::encode(SessionOpened{session, window, of}));
    }
  }
  std::string answer(Ticket ticket) const {
    for (const Action& action : actions) {
      const auto* answer = std::get_if<Answer>(&action);
      if (answer == nullptr || answer->ticket != ticket) continue;
      return answer->result ? std::string(as_text(*answer->result))
                            : answer->result.error().message;
    }
    return "none yet";
  }

  OpenKeyring keys;
  Machine machine;
  Time now = seconds(1);
  std::vector<Action> actions;
  Ticket tickets = 0;
};

}  // namespace

TEST_CASE("what is asked for before there is a session, or room in it, is sent when there is") {
  Desk desk(FaultModel::byzantine);
  const Ticket first = desk.order("a"), second = desk.order("b");
  CHECK(desk.requests(3).size() == 1);  // That for a session.
  desk.actions.clear();
  desk.run_until(seconds(2));  // It is said again.
  desk.open(5, 1);
  auto sent = desk.requests(3);
  REQUIRE(sent.size() == 1);
  for (ReplicaId id = 0; id < 3; ++id) desk.reply(id, sent[0], as_bytes("1"));
  CHECK(desk.answer(first) == "1");
  CHECK(desk.answer(second) == "none yet");
  sent = desk.requests(3);
  REQUIRE(sent.size() == 1);
  CHECK(as_text(sent[0].operation) == "b");
  CHECK(sent[0].sequence == 2);
}

TEST_CASE("a session that another process of the client has opened is not used, but asked above") {
  for (const FaultModel model : {FaultModel::crash, FaultModel::byzantine}) {
    Desk desk(model);
    desk.order("a");
    const Request first = desk.requests(0).at(0);
    desk.step(Tick{});
    desk.run_until(seconds(2));
    desk.open(5, 256, Desk::life + 1);
    desk.run_until(desk.now);
    const auto asked = desk.requests(0);
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].kind == Kind::open);
    CHECK(asked[0].sequence > first.sequence);
    for (const MemberInfo& member : desk.machine.group().view().members) {
      desk.reply(member.id, asked[0], wire::encode(SessionOpened{6, 256, Desk::life}));
    }
    const auto sent = desk.requests(0);
    REQUIRE(sent.size() == 1);
    CHECK(as_text(sent[0].operation) == "a");
    CHECK(sent[0].session == 6);
  }
}

TEST_CASE(
    "a session is asked for with a number above the last one, however far back the clock is") {
  for (const FaultModel model : {FaultModel::crash, FaultModel::byzantine}) {
    Desk desk(model);
    const Ticket ticket = desk.order("a");
    const Sequence last = 3'600'000'000'000;
    const Request first = desk.requests(0).at(0);
    for (ReplicaId id = 0; id < 3; ++id) {
      desk.reply(id, first, wire::encode(Outnumbered{last}), ReplyStatus::no_session);
    }
    desk.actions.clear();
    desk.run_until(desk.now);
    // A copy of the reply, and what others say late, change nothing.
    desk.reply(0, first, wire::encode(Outnumbered{2 * last}), ReplyStatus::no_session);
    const Request second = desk.requests(0).at(0);
    CHECK(second.kind == Kind::open);
    CHECK(second.sequence == last + 1);
    for (ReplicaId id = 0; id < 3; ++id) {
      desk.reply(id, second, wire::encode(SessionOpened{5, 256, Desk::life}));
    }
    CHECK(as_text(desk.requests(0).at(0).operation) == "a");
    CHECK(desk.answer(ticket) == "none yet");
  }
}

TEST_CASE(
    "replicas of an earlier version do not say the number, and are not asked without a pause") {
  Desk desk(FaultModel::crash);
  desk.reply(0, desk.requests(0).at(0), {}, ReplyStatus::no_session);
  desk.run_until(desk.now);
  CHECK(desk.requests(0).empty());
  desk.run_until(desk.now + seconds(1));
  CHECK_FALSE(desk.requests(0).empty());
}

TEST_CASE(
    "what an administrator asks for has a number above the last one, however far back his clock "
    "is") {
  for (const FaultModel model : {FaultModel::crash, FaultModel::byzantine}) {
    Desk desk(model, administrator_id);
    const auto admit = [&](Time deadline) {
      desk.step(OrderWanted{.ticket = ++desk.tickets,
                            .kind = Kind::admit,
                            .operation = Buffer(as_bytes("who")),
                            .deadline = deadline});
      return desk.requests(0).at(0);
    };
    const auto all_reply = [&](const Request& request, Bytes result, ReplyStatus status) {
      for (ReplicaId id = 0; id < 3; ++id) desk.reply(id, request, result, status);
    };
    const Request first = admit(seconds(100));
    const Sequence last = 3'600'000'000'000;
    all_reply(first, wire::encode(Outnumbered{last}), ReplyStatus::forgotten);
    const auto again = desk.requests(0);
    REQUIRE(again.size() == 1);
    CHECK(again[0].kind == Kind::admit);
    CHECK(again[0].sequence == last + 1);
    CHECK(as_text(again[0].operation) == "who");
    CHECK(desk.answer(desk.tickets) == "none yet");
    all_reply(again[0], {}, ReplyStatus::done);
    CHECK(desk.answer(desk.tickets).empty());

    // Nobody waits for it any more, and somebody may have asked for something else since.
    const Request late = admit(desk.now + milliseconds(100));
    desk.run_until(desk.now + seconds(1));
    CHECK(desk.answer(desk.tickets).starts_with("no answer in time"));
    (void)desk.requests(0);
    all_reply(late, wire::encode(Outnumbered{2 * last}), ReplyStatus::forgotten);
    CHECK(desk.requests(0).empty());

    // Replicas of an earlier version do not say the number.
    const Request old = admit(seconds(100));
    all_reply(old, {}, ReplyStatus::forgotten);
    CHECK(desk.requests(0).empty());
    CHECK(desk.answer(desk.tickets).find("nobody knows whether it was executed") !=
          std::string::npos);
  }
}

TEST_CASE("among liars a quorum has to answer alike, each replica once") {
  Desk desk(FaultModel::byzantine);
  desk.open(5);
  const Ticket ticket = desk.order("a");
  const Request request = desk.requests(0).at(0);
  desk.reply(0, request, as_bytes("lie"));
  desk.reply(1, request, as_bytes("truth"));
  desk.reply(1, request, as_bytes("truth"));
  desk.reply(2, request, as_bytes("truth"));
  CHECK(desk.answer(ticket) == "none yet");
  desk.reply(3, request, as_bytes("truth"));
  CHECK(desk.answer(ticket) == "truth");
}

TEST_CASE("a reply of an earlier session, or to an earlier request, is nobody's answer") {
  Desk desk(FaultModel::crash);
  desk.open(5);
  const Ticket first = desk.order("a");
  const Request request = desk.requests(0).at(0);
  desk.reply(0, request, {}, ReplyStatus::no_session);
  CHECK(desk.answer(first).find("nobody knows") != std::string::npos);
  desk.open(6);
  const Ticket second = desk.order("b"), third = desk.order("c");
  const auto sent = desk.requests(0);
  desk.reply(0, request, as_bytes("old"));
  CHECK(desk.answer(second) == "none yet");
  desk.reply(0, sent.at(0), as_bytes("new"));
  desk.reply(0, sent.at(0), as_bytes("new"));
  CHECK(desk.answer(second) == "new");
  CHECK(desk.answer(third) == "none yet");
}

TEST_CASE("who is not answered says the same again, to all") {
  Desk desk(FaultModel::crash);
  desk.open(5);
  desk.order("a");
  const Request request = desk.requests(0).at(0);
  CHECK(desk.requests(2).empty());
  desk.run_until(desk.now + seconds(3));
  for (const ReplicaId id : {0u, 2u}) {
    const auto again = desk.requests(id);
    CHECK(again.size() == 2);  // After 0.5 s and 1 s more; then after 2 s.
    for (const Request& one : again) CHECK(one.sequence == request.sequence);
  }
}

TEST_CASE("a read that who was taken for the leader refuses again and again goes to all") {
  Desk desk(FaultModel::crash);
  desk.open(5);
  desk.actions.clear();
  desk.step(ReadWanted{++desk.tickets, Buffer(as_bytes("a")), desk.now + seconds(100), false});
  const auto sent_to = [&](ReplicaId to) {
    return std::count_if(desk.actions.begin(), desk.actions.end(), [&](const Action& action) {
      const auto* send = std::get_if<Send>(&action);
      return send != nullptr && send->to == to && send->kind == read_kind;
    });
  };
  CHECK(sent_to(0) == 1);
  CHECK(sent_to(2) == 0);
  for (int i = 0; i < 10 && sent_to(2) == 0; ++i) {
    desk.step(Heard{0, read_reply_kind, wire::encode(ReadReplyHead{1, false})});
    desk.run_until(desk.now + milliseconds(200));
  }
  REQUIRE(sent_to(2) != 0);
  Buffer known = wire::encode(ReadReplyHead{1, true});
  known.append(as_bytes("1").data(), 1);
  desk.step(Heard{2, read_reply_kind, known});
  CHECK(desk.answer(desk.tickets) == "1");
}

TEST_CASE("a session that another process was faster to open is asked for with a higher number") {
  Desk desk(FaultModel::crash);
  const Request first = desk.requests(0).at(0);
  CHECK(first.sequence == 1'000);  // The first number, as no time has passed.
  desk.now += milliseconds(5);
  desk.reply(0, first, wire::encode(Outnumbered{1'007}), ReplyStatus::no_session);
  desk.run_until(desk.now);
  const Request second = desk.requests(0).at(0);
  CHECK(second.kind == Kind::open);
  CHECK(second.sequence == 5'001'000);
}

TEST_CASE("a view is believed if a quorum of the one before has signed it, and proved for anew") {
  Desk desk(FaultModel::byzantine);
  desk.open(5);
  const Ticket ticket = desk.order("a");
  CHECK(as_text(desk.requests(1).at(0).proof) == "0123");
  SignedView next{test_view(FaultModel::byzantine, 4), {}};
  next.view.id = 1;
  next.view.members.erase(next.view.members.begin());
  next.view.members.push_back({9, "", ""});
  const Buffer statement = signed_bytes(next.view);
  const auto tell = [&] {
    desk.step(Heard{3, new_view_kind, encode(*message(SignedView(next))).head});
  };
  for (const ReplicaId id : {1u, 2u, 2u, 7u}) {
    next.signatures.push_back(OpenKeyring::sign(id, statement));
  }
  tell();
  CHECK(desk.machine.group().view().id == 0);
  next.signatures.push_back(OpenKeyring::sign(3, statement));
  desk.actions.clear();
  tell();
  CHECK(desk.machine.group().view().id == 1);
  CHECK(as_text(desk.requests(1).at(0).proof) == "1239");
  const bool hangs_up =
      std::any_of(desk.actions.begin(), desk.actions.end(), [](const Action& one) {
        const auto* disconnect = std::get_if<Disconnect>(&one);
        return disconnect != nullptr && disconnect->replica == 0;
      });
  CHECK(hangs_up);
  CHECK(desk.answer(ticket) == "none yet");
}

TEST_CASE(
    "among liars who leads is what f + 1 members say, and who that is follows from the view") {
  Desk desk(FaultModel::byzantine);
  const auto say = [&desk](ReplicaId from, ViewId view, Regency regency) {
    desk.step(Heard{from, standing_kind, wire::encode(Standing{view, regency, from})});
  };
  const auto leader = [&desk] { return desk.machine.group().believed_leader(); };
  CHECK_FALSE(leader());
  say(0, 0, 3);
  say(1, 0, 1);
  say(9, 0, 3);
  CHECK_FALSE(leader());
  say(2, 0, 1);
  CHECK(leader() == 1);
  say(3, 1, 3);
  CHECK(leader() == 1);
  say(3, 0, 3);
  CHECK(leader() == 3);
  desk.step(LinkDown{0, "it ended", false});
  CHECK(leader() == 1);
}

TEST_CASE("where nobody lies who leads is what one member says, the newest of several") {
  Desk desk(FaultModel::crash);
  const auto say = [&desk](ReplicaId from, Regency regency) {
    desk.step(Heard{from, standing_kind, wire::encode(Standing{0, regency, from})});
  };
  say(0, 0);
  CHECK(desk.machine.group().believed_leader() == 0);
  say(1, 2);
  CHECK(desk.machine.group().believed_leader() == 2);
  say(2, 1);
  CHECK(desk.machine.group().believed_leader() == 2);
}

TEST_CASE("what is answered too late, or too large to be asked, is an error") {
  Desk desk(FaultModel::crash);
  desk.open(5);
  const Ticket large = desk.order(std::string(101, 'x'));
  CHECK(desk.answer(large) == "an operation of 101 bytes, at most 100 are taken");
  const Ticket late = desk.order("a");
  desk.run_until(desk.now + seconds(101));
  CHECK(desk.answer(late).find("it may be executed all the same") != std::string::npos);
}

}  // namespace piracema::smr::client
