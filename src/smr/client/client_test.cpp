#include <doctest/doctest.h>
#include <piracema/smr/administrator.h>

#include <algorithm>
#include <set>

#include "base/testing.h"
#include "smr/client/client_engine.h"
#include "smr/client/client_port.h"
#include "smr/link/door.h"
#include "smr/replica/testing.h"
#include "wire/fields.h"

using namespace piracema;
using namespace piracema::smr;
using namespace piracema::smr::testing;

namespace {

using std::chrono::milliseconds;

/// A group of replicas that answer at once, without any order: what clients see of one.
struct Group {
  struct Member {
    Self self;
    std::unique_ptr<ClientPort> port;
    std::unique_ptr<Door> door;
    std::vector<Request> submitted;
    bool answers = true, lies = false, reads = true, answers_reads = true;
    std::size_t reads_seen = 0;
    /// Executed once each.
    std::set<Sequence> executed;
  };

  explicit Group(bool byzantine) {
    configuration.name = "g";
    configuration.byzantine = byzantine;
    configuration.clients = {{7, hex_key_of(7)}};
    for (std::uint8_t i = 0; i < (byzantine ? 4 : 3); ++i) {
      members.push_back(std::make_unique<Member>(
          Member{{"g", {PeerName::Role::replica, i}, key_of(i)}, nullptr, nullptr, {}}));
      start(i);
      configuration.replicas.push_back({i, members[i]->door->address(), hex_key_of(i)});
    }
    REQUIRE(validate(configuration).ok());
  }

  void start(std::size_t i, const std::string& address = "127.0.0.1:0") {
    Member& member = *members[i];
    const auto model = configuration.byzantine ? FaultModel::byzantine : FaultModel::crash;
    member.port = std::make_unique<ClientPort>(
        model, 1 << 20,
        ClientPort::Host{[this, &member](Request request) { answer(member, std::move(request)); },
                         [this, &member](Request request) { answer(member, std::move(request)); },
                         [&member](std::uint64_t token, Buffer operation) {
                           member.reads_seen += 1;
                           if (!member.answers_reads) return;
                           if (member.lies) operation = Buffer(as_bytes("lie"));
                           member.port->read_reply(token, member.reads, operation);
                         },
                         [] { return std::vector<Buffer>(); }});
    member.port->set_standing({0, regency, leader});
    Door::Host host;
    host.key_of = [this](const PeerName& name) {
      if (name.id != 7 && !(name.id == 8 && admits_8)) return std::optional<PublicKey>();
      return std::optional(key_of(static_cast<std::uint8_t>(name.id)).public_key());
    };
    host.known = [this, &member](std::shared_ptr<Link> link) {
      link->read_in_turn(&turns, to_text(link->peer()));
      member.port->take(std::move(link));
    };
    host.received = [&member](Link& link, std::uint8_t kind, Bytes message) {
      member.port->received(link, kind, message);
    };
    host.lost = [&member](Link& link, const Error&) { member.port->lost(link); };
    auto door = Door::open(poller, flush_list, turns, member.self, address, host, {});
    REQUIRE(door.ok());
    member.door = *std::move(door);
  }
  /// As if its process had died.
  void kill(std::size_t i) {
    members[i]->door.reset();
    members[i]->port.reset();
  }

  void answer(Member& member, Request request) {
    member.submitted.push_back(request);
    if (!member.answers) return;
    const bool leads = configuration.byzantine || member.self.name.id == leader;
    if (!leads) return;
    member.executed.insert(request.sequence);
    member.port->reply(reply_to(member, request));
  }
  Reply reply_to(const Member& member, const Request& request) {
    Reply reply{request.client, request.session, request.sequence, ReplyStatus::done, nullptr};
    Buffer result = request.operation;
    if (request.kind == Kind::open) {
      const auto opens = wire::decode<Opens>(request.operation);
      result = wire::encode(SessionOpened{5, 256, opens ? opens->life : 0});
    }
    if (evicted && request.session != 0) reply.status = ReplyStatus::no_session;
    if (member.lies) result = Buffer(as_bytes("lie"));
    reply.result = std::make_shared<const Buffer>(std::move(result));
    return reply;
  }

  void set_leader(ReplicaId id) {
    leader = id;
    regency += 1;
    for (auto& member : members) {
      if (member->port) member->port->set_standing({0, regency, leader});
    }
  }

  std::unique_ptr<ClientEngine> client(ClientEngine::Retry retry = {}, ClientId id = 7) {
    return std::make_unique<ClientEngine>(poller, flush_list, configuration, id,
                                          key_of(static_cast<std::uint8_t>(id)), retry);
  }

  template <class Condition>
  void run_until(Condition condition) {
    const Time deadline = now() + std::chrono::seconds(100);
    while (!condition()) {
      REQUIRE(now() < deadline);
      poller.run_once(milliseconds(50));
      turns.run(milliseconds(5));
      flush_list.flush();
    }
  }

  void run_for(int turns_of_poller) {
    for (int i = 0; i < turns_of_poller; ++i) {
      poller.run_once(milliseconds(20));
      turns.run(milliseconds(5));
      flush_list.flush();
    }
  }

  Configuration configuration;
  net::Poller poller;
  FlushList flush_list;
  ReadTurns turns;
  ReplicaId leader = 0;
  Regency regency = 0;
  bool evicted = false, admits_8 = false;
  std::vector<std::unique_ptr<Member>> members;
};

/// What one call has come to.
struct CallOutcome {
  std::optional<Result<Buffer>> result;
  ClientEngine::Done done() {
    return [this](Result<Buffer> value) { result.emplace(std::move(value)); };
  }
  std::string text() const {
    if (!result) return "nothing yet";
    return result->ok() ? std::string(as_text(**result)) : "error: " + result->error().message;
  }
};

Time soon(milliseconds time = milliseconds(100'000)) { return now() + time; }

}  // namespace

TEST_CASE("whoever gives up an administrator's call waits no longer for a group that is silent") {
  const piracema::testing::ScratchDirectory scratch;
  const std::string key_file = scratch.path() + "/key";
  REQUIRE(write_key(key_file, key_of(9)).ok());
  Group group(false);
  for (const auto& member : group.members) member->door.reset();
  group.configuration.administrator = hex_key_of(9);
  int asked = 0;
  auto administrator =
      Administrator::open(group.configuration, {.key_file = key_file,
                                                .timeout = std::chrono::hours(1),
                                                .given_up = [&] { return ++asked > 3; }});
  REQUIRE(administrator.ok());
  CHECK((*administrator)->members().error().code == Errc::refused);
  CHECK((*administrator)->change({.remove = {0}}).error().code == Errc::refused);
  CHECK((*administrator)->dismiss(7).error().code == Errc::refused);
  CHECK(asked > 3);
}

TEST_CASE("a client is answered, many at a time, whatever the replicas may do") {
  for (const bool byzantine : {false, true}) {
    Group group(byzantine);
    const auto client = group.client();
    std::vector<CallOutcome> outcomes(1'000);  // More than a session's window.
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      client->order(Kind::ordered, 0, words(std::to_string(i)), soon(), outcomes[i].done());
    }
    CallOutcome read;
    client->read(words("read"), soon(), read.done());
    group.run_until([&] { return outcomes.back().result.has_value() && read.result; });
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      CHECK(outcomes[i].text() == std::to_string(i));
    CHECK(read.text() == "read");
  }
}

TEST_CASE("with crashes the leader alone is asked, and the next one when it changes") {
  Group group(false);
  const auto client = group.client();
  CallOutcome first, second;
  client->order(Kind::ordered, 0, words("a"), soon(), first.done());
  group.run_until([&] { return first.result.has_value(); });
  const std::size_t others = group.members[1]->submitted.size();

  group.members[0]->answers = false;
  client->order(Kind::ordered, 0, words("b"), soon(), second.done());
  group.run_until([&] { return group.members[0]->submitted.back().sequence == 2; });
  CHECK(group.members[1]->submitted.size() == others);
  group.set_leader(1);
  group.run_until([&] { return second.result.has_value(); });
  CHECK(second.text() == "b");
}

TEST_CASE("a leader that dies is not waited for") {
  Group group(false);
  const auto client = group.client({.first = milliseconds(10'000)});
  CallOutcome outcome;
  group.run_until([&] { return client->standing().has_value() && client->links() == 3; });
  group.members[0]->answers = false;
  client->order(Kind::ordered, 0, words("a"), soon(), outcome.done());
  group.run_until([&] { return !group.members[0]->submitted.empty(); });
  group.kill(0);
  group.set_leader(1);
  group.run_until([&] { return outcome.result.has_value(); });
  CHECK(outcome.text() == "a");
}

TEST_CASE("a request without an answer is sent to all, with the same number") {
  Group group(false);
  group.members[0]->answers = false;
  const auto client = group.client({.first = milliseconds(50), .longest = milliseconds(100)});
  group.run_until([&] { return group.members[2]->submitted.size() >= 3; });
  std::set<Sequence> numbers;
  for (const Request& request : group.members[2]->submitted) numbers.insert(request.sequence);
  CHECK(numbers.size() == 1);
}

TEST_CASE("one liar is outvoted, in what is ordered and in what is read") {
  Group group(true);
  group.members[0]->lies = true;
  const auto client = group.client();
  CallOutcome ordered, read;
  client->order(Kind::ordered, 0, words("truth"), soon(), ordered.done());
  client->read(words("truth"), soon(), read.done());
  group.run_until([&] { return ordered.result && read.result; });
  CHECK(ordered.text() == "truth");
  CHECK(read.text() == "truth");
}

TEST_CASE("a read on which too few agree is ordered") {
  Group group(true);
  group.members[0]->lies = true;
  group.members[1]->reads = false;
  const auto client = group.client();
  CallOutcome read;
  client->read(words("truth"), soon(), read.done());
  group.run_until([&] { return read.result.has_value(); });
  CHECK(read.text() == "truth");
  CHECK(group.members[2]->executed.size() >= 2);  // The session, and the read.
}

TEST_CASE("an operation that takes too long is an error, and the client goes on") {
  Group group(false);
  const auto client = group.client({.first = milliseconds(50)});
  CallOutcome late, next;
  group.run_until([&] { return client->links() == 3; });
  group.run_until([&] { return group.members[0]->executed.size() == 1; });
  group.members[0]->answers = false;
  client->order(Kind::ordered, 0, words("a"), soon(milliseconds(100)), late.done());
  group.run_until([&] { return late.result.has_value(); });
  CHECK(late.result->error().code == Errc::timeout);
  group.members[0]->answers = true;
  client->order(Kind::ordered, 0, words("b"), soon(), next.done());
  group.run_until([&] { return next.result.has_value(); });
  CHECK(next.text() == "b");
}

TEST_CASE("a client learns that its session had to make room, and opens another one") {
  Group group(false);
  const auto client = group.client();
  CallOutcome lost, next;
  group.evicted = true;
  client->order(Kind::ordered, 0, words("a"), soon(), lost.done());
  group.run_until([&] { return lost.result.has_value(); });
  CHECK(lost.text().find("had to make room") != std::string::npos);
  group.evicted = false;
  client->order(Kind::ordered, 0, words("b"), soon(), next.done());
  group.run_until([&] { return next.result.has_value(); });
  CHECK(next.text() == "b");
}

TEST_CASE(
    "a client that was not admitted is told so long before its time is up, and may come later") {
  for (const bool byzantine : {false, true}) {
    Group group(byzantine);
    const auto client = group.client({}, 8);
    CallOutcome ordered, read, later;
    client->order(Kind::ordered, 0, words("a"), soon(milliseconds(3'600'000)), ordered.done());
    client->read(words("b"), soon(milliseconds(3'600'000)), read.done());
    group.run_until([&] { return ordered.result && read.result; });
    CHECK(ordered.result->error().code == Errc::refused);
    CHECK(ordered.text().find("client 8 is not known to replica 0") != std::string::npos);
    CHECK(ordered.text().find("it was not executed") != std::string::npos);
    CHECK(read.result->error().code == Errc::refused);
    group.admits_8 = true;
    group.run_until([&] { return client->links() == group.members.size(); });
    client->order(Kind::ordered, 0, words("c"), soon(), later.done());
    group.run_until([&] { return later.result.has_value(); });
    CHECK(later.text() == "c");
  }
}

TEST_CASE("that replicas cannot be reached is no refusal") {
  Group group(false);
  group.kill(1);
  group.kill(2);
  const auto client = group.client({}, 8);
  CallOutcome outcome;
  client->order(Kind::ordered, 0, words("a"), soon(milliseconds(1'500)), outcome.done());
  group.run_until([&] { return outcome.result.has_value(); });
  CHECK(outcome.result->error().code == Errc::timeout);
}

TEST_CASE("an oversized operation is refused where it is asked for") {
  Group group(false);
  const auto client = group.client();
  CallOutcome large;
  Buffer operation;
  operation.resize((1 << 20) + 1);
  client->order(Kind::ordered, 0, std::move(operation), soon(), large.done());
  group.run_until([&] { return large.result.has_value(); });
  CHECK(large.result->error().code == Errc::refused);
  CHECK(large.text().find("1048577 bytes, at most 1048576") != std::string::npos);
}

TEST_CASE("a client that floods waits in its own socket, and the next one is served") {
  Group group(false);
  group.members[0]->answers_reads = false;
  const Self self{"g", {PeerName::Role::client, 7}, key_of(7)};
  const auto address = *net::Address::parse(group.configuration.replicas[0].address);
  Caller flooder(group.poller, group.flush_list, self,
                 Caller::Whom{{PeerName::Role::replica, 0}, key_of(0).public_key(), address},
                 {[](Link&) {}, [](Link&, std::uint8_t, Bytes) {}, [](Link&, const Error&) {}}, {});
  group.run_until([&] { return flooder.link() != nullptr; });
  const Buffer head = wire::encode(ReadHead{1});
  const std::string operation(1'000, 'x');
  for (int i = 0; i < 60'000; ++i) flooder.link()->send(read_kind, head, as_bytes(operation));

  const auto client = group.client();
  CallOutcome outcome;
  client->order(Kind::ordered, 0, words("a"), soon(), outcome.done());
  group.run_until([&] { return outcome.result.has_value(); });
  CHECK(outcome.text() == "a");
  // Its share, and what one look at the socket brings beyond it.
  group.run_until([&] { return group.members[0]->reads_seen >= ClientPort::unanswered_max; });
  group.run_for(5);
  CHECK(group.members[0]->reads_seen <= ClientPort::unanswered_max + 1'100);
}

TEST_CASE("a client has one share, over however many connections it asks") {
  Group group(false);
  group.members[0]->answers_reads = false;
  const Self self{"g", {PeerName::Role::client, 7}, key_of(7)};
  const auto address = *net::Address::parse(group.configuration.replicas[0].address);
  std::vector<std::unique_ptr<Caller>> flooders;
  for (int i = 0; i < 20; ++i) {
    flooders.push_back(std::make_unique<Caller>(
        group.poller, group.flush_list, self,
        Caller::Whom{{PeerName::Role::replica, 0}, key_of(0).public_key(), address},
        Link::Events{[](Link&) {}, [](Link&, std::uint8_t, Bytes) {}, [](Link&, const Error&) {}},
        Link::Limits{}));
  }
  group.run_until([&] {
    return std::all_of(flooders.begin(), flooders.end(),
                       [](const auto& one) { return one->link() != nullptr; });
  });
  const Buffer head = wire::encode(ReadHead{1});
  const std::string operation(1'000, 'x');
  for (int i = 0; i < 1'000; ++i) {
    for (const auto& one : flooders) one->link()->send(read_kind, head, as_bytes(operation));
  }
  group.run_until([&] { return group.members[0]->reads_seen >= ClientPort::unanswered_max; });
  group.run_for(20);
  // What the last record brings beyond it.
  CHECK(group.members[0]->reads_seen <= ClientPort::unanswered_max + 600);
  // When nobody answers, more is taken after a while.
  group.run_until([&] {
    group.members[0]->port->tick(now());
    return group.members[0]->reads_seen >= 2 * ClientPort::unanswered_max;
  });
}
