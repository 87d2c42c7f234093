#include "store/objects/lease.h"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/text.h"

using namespace piracema;
using namespace piracema::store;
using std::chrono::milliseconds;

namespace {

constexpr Lease::Settings settings{.term = std::chrono::seconds(10),
                                   .renew = std::chrono::seconds(2)};

/// What a server has, and the tags that it makes.
struct Object {
  std::optional<Lease::Content> content;
  std::uint64_t writes = 0;

  Lease::Event write(const Lease::Write& what) {
    const std::string there = content ? content->tag : "";
    if (there != what.if_match) return Lease::NotWritten{};
    content = Lease::Content{concat("tag ", ++writes), what.text};
    return Lease::WasWritten{content->tag};
  }
};

/// One contender and its server, which answers at once.
struct Pair {
  explicit Pair(Object& server, const std::string& id = "a")
      : Pair(server, Lease::Owner{id, id, id}) {}
  Pair(Object& server, const Lease::Owner& owner) : object(server), lease(owner, settings) {}
  Lease::Action step(Time at, const Lease::Event& event) {
    Lease::Action action = lease.step(at, event);
    while (true) {
      if (const auto* write = std::get_if<Lease::Write>(&action)) {
        action = lease.step(at, object.write(*write));
      } else if (std::holds_alternative<Lease::Read>(action)) {
        action = lease.step(at, Lease::WasRead{object.content});
      } else {
        return action;
      }
    }
  }
  Object& object;
  Lease lease;
};

Time until(const Lease::Action& action) {
  REQUIRE(std::holds_alternative<Lease::Wait>(action));
  return std::get<Lease::Wait>(action).until;
}

}  // namespace

TEST_CASE("a lease that nobody has is taken at once, and renewed") {
  Object object;
  Pair one(object);
  CHECK(until(one.step(Time(0), Lease::Tick{})) == settings.renew);
  CHECK(one.lease.is_valid(settings.term - Time(1)));
  CHECK_FALSE(one.lease.is_valid(settings.term));
  CHECK(until(one.step(settings.renew, Lease::Tick{})) == 2 * settings.renew);
  CHECK(one.lease.is_valid(settings.term));
  CHECK(object.writes == 2);
}

TEST_CASE("one that somebody renews is refused, with who that is") {
  Object object;
  Pair one(object), other(object, "b");
  one.step(Time(0), Lease::Tick{});
  const Time again = until(other.step(Time(1), Lease::Tick{}));
  one.step(settings.renew, Lease::Tick{});
  const auto refused = other.step(std::max(again, settings.renew + Time(1)), Lease::Tick{});
  REQUIRE(std::holds_alternative<Lease::Refused>(refused));
  CHECK(std::get<Lease::Refused>(refused).holder == "a");
}

TEST_CASE("one whose holder is gone is taken after its term, and one that was given back at once") {
  Object object;
  Pair one(object), other(object, "b"), third(object, "c");
  one.step(Time(0), Lease::Tick{});
  Time at(1);
  for (auto action = other.step(at, Lease::Tick{}); !other.lease.holds();
       action = other.step(at, Lease::Tick{})) {
    at = until(action);
  }
  CHECK(at == settings.term + Time(1));
  const auto lost = one.step(at, Lease::Tick{});
  REQUIRE(std::holds_alternative<Lease::Lost>(lost));
  CHECK(std::get<Lease::Lost>(lost).holder == "b");
  object.write(other.lease.give_back(at));
  third.step(at, Lease::Tick{});
  CHECK(third.lease.holds());
}

TEST_CASE("others can see whose it is while it is held") {
  Object object;
  Pair one(object);
  one.step(Time(0), Lease::Tick{});
  CHECK(Lease::job_of_holder(object.content->text) == "a");
  CHECK(Lease::job_of_holder(one.lease.give_back(Time(0)).text).empty());
  CHECK(Lease::job_of_holder("Dear Sir").empty());
}

// ---- several processes of one job

namespace {
Lease::Owner of_job(const std::string& writer) {
  return {.job = "job", .writer = writer, .holder = writer, .keeps = milliseconds(60'000)};
}
}  // namespace

TEST_CASE("another process of the job has the lease at once, and the one before does not lose it") {
  Object object;
  Pair one(object, of_job("one")), other(object, of_job("other"));
  one.step(Time(0), Lease::Tick{});
  CHECK(until(other.step(Time(1), Lease::Tick{})) == settings.renew + Time(1));
  CHECK(other.lease.is_valid(settings.term));
  CHECK(until(one.step(settings.renew, Lease::Tick{})) == 2 * settings.renew);
  CHECK(until(other.step(settings.renew + Time(1), Lease::Tick{})) == 2 * settings.renew + Time(1));
  CHECK(one.lease.is_valid(settings.term));
  CHECK(other.lease.is_valid(settings.term));
}

TEST_CASE("strangers wait for as long as what the job has started may go on without it") {
  Object object;
  Pair one(object, of_job("one")), stranger(object, "b");
  one.step(Time(0), Lease::Tick{});
  const Time over = Time(1) + settings.term + Time(std::chrono::seconds(60));
  Time at(1);
  for (auto action = stranger.step(at, Lease::Tick{}); !stranger.lease.holds();
       action = stranger.step(at, Lease::Tick{})) {
    at = until(action);
    CHECK(std::get<Lease::Wait>(action).taken_at == over);
  }
  CHECK(at == over);
}

TEST_CASE("a job that is over gives it back at once, or after a term if others may believe in it") {
  Object object;
  Pair one(object, of_job("one")), other(object, of_job("other"));
  one.step(Time(0), Lease::Tick{});
  other.step(Time(1), Lease::Tick{});
  object.write(other.lease.give_back(Time(2)));
  Pair stranger(object, "b");
  const auto waits = stranger.step(Time(2), Lease::Tick{});
  REQUIRE(std::holds_alternative<Lease::Wait>(waits));
  CHECK(std::get<Lease::Wait>(waits).taken_at == Time(2) + settings.term);
  // By then the one before knows that it cannot be sure.
  CHECK_FALSE(one.lease.is_valid(settings.term));

  Pair later(object, of_job("later"));
  Time at = Time(3);
  later.step(at, Lease::Tick{});
  object.write(later.lease.give_back(at + settings.term));
  Pair next(object, "c");
  next.step(at + settings.term, Lease::Tick{});
  CHECK(next.lease.holds());
}

TEST_CASE("what is no lease is left alone, and a lease that is gone is lost") {
  Object object;
  for (const char* text : {"", "Dear Sir", "piracema lease 1\n", "piracema lease 2\nstate free\n",
                           "piracema lease 1\nstate perhaps\n"}) {
    object.content = Lease::Content{"tag", text};
    Pair one(object);
    CHECK(std::holds_alternative<Lease::Refused>(one.step(Time(0), Lease::Tick{})));
    CHECK(object.content->text == text);
  }
  object.content.reset();
  Pair one(object);
  one.step(Time(0), Lease::Tick{});
  object.content.reset();
  CHECK(std::holds_alternative<Lease::Lost>(one.step(settings.renew, Lease::Tick{})));
}

// ---- many of them, and a network that delays, loses, and does late what it was asked for
// ----------

namespace {

class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed) {
    for (std::size_t i = 0; i < 4; ++i) {
      contenders_.emplace_back();
      at(Time(random_.below(5'000'000'000)), [this, i] { begin(i); });
    }
  }

  void run(Time end) {
    while (!events_.empty() && events_.begin()->first <= end) {
      now_ = events_.begin()->first;
      const auto what = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      what();
      check();
    }
  }

  std::uint64_t taken = 0, lost = 0, refused = 0;
  /// Of jobs, at a time; and how often there were several processes of one.
  std::size_t most_valid = 0, shared = 0;
  bool calm = false;

 private:
  struct Contender {
    std::unique_ptr<Lease> lease;
    std::string job;
    /// Another one for each lease: what is meant for the one before is dropped.
    std::uint64_t life = 0;
    Time stopped_until{};
    bool held = false;
  };

  void at(Time when, std::function<void()> what) { events_.emplace(when, std::move(what)); }
  Time draw(milliseconds most) {
    return Time(random_.below(static_cast<std::uint64_t>(Time(most).count())));
  }

  void begin(std::size_t i) {
    Contender& one = contenders_[i];
    const std::string writer = concat("writer-", ++ids_);
    one.job = writer;
    // Half of them are of the job of another one, which may be over.
    const Contender& other = contenders_[random_.below(contenders_.size())];
    if (!other.job.empty() && random_.chance(0.5)) one.job = other.job;
    one.lease = std::make_unique<Lease>(
        Lease::Owner{.job = one.job, .writer = writer, .holder = concat("who has ", writer)},
        settings);
    one.held = false;
    feed(i, ++one.life, Lease::Tick{});
  }

  // Gone, at once; somebody else comes later.
  void kill(std::size_t i) {
    ++contenders_[i].life;
    contenders_[i].lease.reset();
    at(now_ + draw(milliseconds(20'000)), [this, i] { begin(i); });
  }

  void feed(std::size_t i, std::uint64_t life, const Lease::Event& event) {
    Contender& one = contenders_[i];
    if (one.life != life) return;
    if (now_ < one.stopped_until) {
      return at(one.stopped_until, [this, i, life, event] { feed(i, life, event); });
    }
    if (!calm && random_.chance(0.02)) return kill(i);
    if (!calm && random_.chance(0.02)) {
      one.stopped_until = now_ + draw(milliseconds(30'000));
      return feed(i, life, event);
    }
    perform(i, life, one.lease->step(now_, event));
    if (one.lease && one.lease->holds() && !std::exchange(one.held, true)) ++taken;
    // Done with it.
    if (one.lease && one.lease->holds() && random_.chance(0.05)) {
      const Lease::Write free = one.lease->give_back(now_);
      at(now_ + draw(milliseconds(500)), [this, free] { object_.write(free); });
      kill(i);
    }
  }

  void perform(std::size_t i, std::uint64_t life, const Lease::Action& action) {
    if (const auto* wait = std::get_if<Lease::Wait>(&action)) {
      return at(wait->until, [this, i, life] { feed(i, life, Lease::Tick{}); });
    }
    if (std::holds_alternative<Lease::Refused>(action)) {
      ++refused;
      return kill(i);
    }
    if (std::holds_alternative<Lease::Lost>(action)) {
      ++lost;
      return kill(i);
    }
    constexpr milliseconds timeout{2'000};
    const auto answered = std::make_shared<bool>(false);
    at(now_ + Time(timeout), [this, i, life, answered] {
      if (!std::exchange(*answered, true)) feed(i, life, Lease::Unclear{});
    });
    if (!calm && random_.chance(0.1)) return;  // It never comes.
    const bool late = !calm && random_.chance(0.1);
    const Time arrives = now_ + draw(late ? milliseconds(40'000) : milliseconds(300));
    at(arrives, [this, i, life, action, answered] {
      Lease::Event event = Lease::WasRead{object_.content};
      if (const auto* write = std::get_if<Lease::Write>(&action)) event = object_.write(*write);
      if (!calm && random_.chance(0.1)) return;  // The answer does not.
      at(now_ + draw(milliseconds(300)), [this, i, life, event, answered] {
        if (!std::exchange(*answered, true)) feed(i, life, event);
      });
    });
  }

  void check() {
    std::set<std::string> valid;
    std::size_t processes = 0;
    for (const Contender& one : contenders_) {
      if (!one.lease || !one.lease->is_valid(now_)) continue;
      valid.insert(one.job);
      processes += 1;
    }
    most_valid = std::max(most_valid, valid.size());
    shared += processes > 1;
  }

  Random random_;
  Object object_;
  std::vector<Contender> contenders_;
  std::multimap<Time, std::function<void()>> events_;
  Time now_{};
  std::uint64_t ids_ = 0;
};

}  // namespace

TEST_CASE("two jobs never hold it at a time, whatever the network and they themselves do") {
  std::uint64_t taken = 0, lost = 0, refused = 0, shared = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    World world(seed);
    world.run(std::chrono::minutes(20));
    REQUIRE(world.most_valid == 1);
    // Once nothing goes wrong any more it is had by one after the other.
    world.calm = true;
    const std::uint64_t before = world.taken;
    world.run(std::chrono::minutes(40));
    REQUIRE(world.most_valid == 1);
    CHECK(world.taken > before);
    taken += world.taken;
    lost += world.lost;
    refused += world.refused;
    shared += world.shared;
  }
  // All of it has happened.
  CHECK(taken > 1'000);
  CHECK(lost > 100);
  CHECK(refused > 1'000);
  CHECK(shared > 1'000);
}
