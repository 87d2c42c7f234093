#include <doctest/doctest.h>
#include <piracema/event_time.h>

#include <algorithm>
#include <cereal/types/string.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "flow/event_times.h"
#include "flow/operator_testing.h"

using namespace piracema;
using namespace piracema::flow::testing;
using std::chrono::seconds;

namespace {

struct Login {
  template <class Archive>
  void serialize(Archive& archive) {
    archive(user, second);
  }
  std::string user;
  std::int64_t second = 0;
};
EventTime at_second(std::int64_t second) { return EventTime(seconds(second)); }
EventTime when(const Login& login) { return at_second(login.second); }

/// A session ends ten seconds after its last login.
struct Sessions {
  seconds state_ttl() const { return seconds(10); }
  EventTime event_time_of(const Login& login) const { return when(login); }
  void operator()(const Login&, std::int64_t& logins, Emit<std::string>&) const { logins += 1; }
  void finish(const std::string& user, std::int64_t& logins, Emit<std::string>& emit) const {
    emit(user + " " + std::to_string(logins));
  }
};

/// Says what it finds, and changes nothing but by a login of "…!".
struct Looks {
  seconds state_ttl() const { return seconds(10); }
  EventTime event_time_of(const Login& login) const { return when(login); }
  std::int64_t operator()(const Login& login, KeyedState<std::int64_t>& since) const {
    if (login.user.ends_with('!')) since.edit() = login.second;
    return since.find() == nullptr ? -1 : *since.find();
  }
};

/// Logins and logouts of a user are counted together.
struct Meets {
  seconds state_ttl() const { return seconds(10); }
  EventTime event_time_of(const Login& login) const { return when(login); }
  EventTime event_time_of(const std::int64_t& second) const { return EventTime(seconds(second)); }
  void left(const Login& login, std::int64_t& count, Emit<std::int64_t>& emit) const {
    emit(100 * login.second + ++count);
  }
  void right(const std::int64_t& second, std::int64_t& count, Emit<std::int64_t>& emit) const {
    emit(100 * second + ++count);
  }
};

/// Its states end where nothing is emitted.
struct Ends {
  std::shared_ptr<std::vector<std::string>> seen;
  seconds state_ttl() const { return seconds(10); }
  EventTime event_time_of(const Login& login) const { return when(login); }
  void operator()(const Login&, std::int64_t& logins) const { logins += 1; }
  void finish(const std::string& user, std::int64_t& logins) const {
    seen->push_back(user + " " + std::to_string(logins));
  }
};

auto sessions() {
  return farm("sessions", 1, Sessions{}).by_key([](const Login& login) { return login.user; });
}
using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "a state ends once: by an item that comes too late for it, by event time, or at the end") {
  OneReplica<std::string> one(sessions());
  one.come_to(at_second(0));
  CHECK(one.take<Login>({{"ada", 1}, {"bob", 2}, {"ada", 9}}).empty());
  // Of Ada's key one comes ten seconds later; Bob's is looked at when event time has come.
  CHECK(one.take<Login>({{"ada", 19}}) == Texts{"ada 2"});
  CHECK(one.come_to(at_second(12)) == Texts{"bob 1"});
  CHECK(one.come_to(at_second(18)).empty());
  CHECK(one.states->size() == 1);
  CHECK(one.finish() == Texts{"ada 1"});
}

TEST_CASE("an item that is out of order makes a state no older, and finds a younger one") {
  OneReplica<std::string> one(sessions());
  one.come_to(at_second(0));
  CHECK(one.take<Login>({{"ada", 8}, {"ada", 3}, {"ada", 17}, {"ada", 12}}).empty());
  CHECK(one.come_to(at_second(26)).empty());
  CHECK(one.come_to(at_second(30)) == Texts{"ada 4"});
}

TEST_CASE("what `finish` emits is not too early behind the node") {
  OneReplica<std::string> one(sessions());
  CHECK(one.code->advance(no_event_time, one.out) == no_event_time);
  one.come_to(at_second(100));
  CHECK(one.behind == EventTime(seconds(90)));
  one.come_to(at_second(101));  // All keys are looked at each eighth of their time to live.
  CHECK(one.behind == EventTime(seconds(90)));
  one.come_to(at_second(102));
  CHECK(one.behind == EventTime(seconds(92)));
  // Where nothing is emitted when a state ends, event time is as far as before the node.
  const auto looks =
      farm("looks", 1, Looks{}).by_key([](const Login& login) { return login.user.substr(0, 3); });
  OneReplica<std::int64_t> other(looks);
  other.come_to(at_second(101));
  CHECK(other.behind == EventTime(seconds(101)));
}

TEST_CASE("to look at a state makes it no younger") {
  const auto looks =
      farm("looks", 1, Looks{}).by_key([](const Login& login) { return login.user.substr(0, 3); });
  OneReplica<std::int64_t> one(looks);
  one.come_to(at_second(0));
  CHECK(one.take<Login>({{"ada", 1}, {"ada!", 2}, {"ada", 9}, {"ada", 11}, {"ada", 12}}) ==
        std::vector<std::int64_t>{-1, 2, 2, 2, -1});
}

TEST_CASE("items of both inputs of a join count, each by its own time") {
  const auto meets = join("meets", 1, Meets{})
                         .by_keys([](const Login&) { return std::int64_t{1}; },
                                  [](const std::int64_t&) { return std::int64_t{1}; });
  OneReplica<std::int64_t> one(meets);
  one.come_to(at_second(0));
  CHECK(one.take<Login>({{"ada", 1}}) == std::vector<std::int64_t>{101});
  CHECK(one.take<std::int64_t>({10}, 1) == std::vector<std::int64_t>{1'002});
  CHECK(one.take<Login>({{"ada", 20}}) == std::vector<std::int64_t>{2'001});
  one.come_to(at_second(31));
  CHECK(one.states->size() == 0);
}

TEST_CASE("a sink's states end as a node's do") {
  const auto seen = std::make_shared<Texts>();
  OneReplica<std::string> one(
      sink("ends", Ends{seen}).by_key([](const Login& login) { return login.user; }));
  one.come_to(at_second(0));
  one.take<Login>({{"ada", 1}, {"bob", 2}, {"bob", 12}});
  CHECK(*seen == Texts{"bob 1"});
  one.come_to(at_second(12));
  CHECK(*seen == Texts{"bob 1", "ada 1"});
  one.finish();
  CHECK(*seen == Texts{"bob 1", "ada 1", "bob 1"});
}

TEST_CASE("an item that is earlier than event time is a mistake of the program, and says so") {
  OneReplica<std::string> one(sessions());
  one.come_to(at_second(20));
  CHECK_THROWS_WITH((one.take<Login>({{"ada", 19}})),
                    "an item of 19000000000 ns since 1970 comes where event time is at "
                    "20000000000: its time was another one at event_time(...)");
}

TEST_CASE("times before 1970, and as far apart as there are, are told apart") {
  OneReplica<std::string> one(sessions());
  const std::int64_t far = 9'000'000'000;
  CHECK(one.take<Login>({{"ada", -far}, {"ada", -far + 9}}).empty());
  CHECK(one.take<Login>({{"ada", far}}) == Texts{"ada 2"});
  CHECK(one.come_to(at_second(far + 10)) == Texts{"ada 1"});
}

TEST_CASE("whatever comes, and is saved and restored, all lives of all keys are told once") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    auto one = std::make_unique<OneReplica<std::string>>(sessions());
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> model;  // Latest, logins.
    std::multiset<std::string> found, wanted;
    const auto keep = [&](const Texts& texts) { found.insert(texts.begin(), texts.end()); };
    std::int64_t come = 0;
    for (int i = 0; i < 2'000; ++i) {
      const std::int64_t second = come + static_cast<std::int64_t>(random.below(6));
      const std::string user = std::to_string(random.below(30));
      auto [at, is_new] = model.try_emplace(user, second, 0);
      if (second - at->second.first >= 10) {
        wanted.insert(user + " " + std::to_string(at->second.second));
        at->second = {second, 0};
      }
      at->second = {std::max(at->second.first, second), at->second.second + 1};
      keep(one->take<Login>({{user, second}}));
      if (random.chance(0.3)) {
        come += static_cast<std::int64_t>(random.below(3));
        keep(one->come_to(at_second(come)));
      }
      if (random.chance(0.01)) {
        Record all(1);
        one->states->begin_cut(all);
        while (one->states->save_next()) {
        }
        one->states->end_cut();
        auto restored = std::make_unique<OneReplica<std::string>>(sessions());
        for (const auto& unit : all.units) {
          restored->states->replay(unit.group, as_bytes(unit.bytes), all.of.number);
        }
        one = std::move(restored);
        keep(one->come_to(at_second(come)));
      }
    }
    for (const auto& [user, of] : model) wanted.insert(user + " " + std::to_string(of.second));
    keep(one->finish());
    CHECK(found == wanted);
  }
}

TEST_CASE("a graph wants event time before such a node, and a snapshot says what its states are") {
  const auto logins = source("logins", [i = std::int64_t{0}]() mutable -> std::optional<Login> {
    return i < 3 ? std::optional(Login{"ada", i++}) : std::nullopt;
  });
  const auto drop = sink("drop", [](const std::string&) {});
  const Graph graph =
      pipeline(combine(logins, event_time("times", when, seconds(0), drop_late)), sessions(), drop);
  const auto& shape = graph.shape.nodes.at(2);
  CHECK(shape.needs_event_time);
  CHECK(shape.unsaved.empty());
  CHECK(graph.code.at(2)()->layout() == "keys(string, i64 with the time of its items)");
  const auto why = flow::without_event_time(Graph(pipeline(logins, sessions(), drop)).shape);
  CHECK(why.value_or("").starts_with(
      "'sessions' needs event time, and what comes to it from 'logins' has none"));
}
