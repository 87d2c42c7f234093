#include "smr/replica/local_client.h"

#include <doctest/doctest.h>

#include <string>

#include "smr/replica/testing.h"
#include "wire/fields.h"

using namespace piracema;
using namespace piracema::smr;
using namespace piracema::smr::testing;

namespace {

using std::chrono::seconds;

/// A replica that shows what its process asks for, and answers as the test says.
struct Place {
  LocalClient client{
      3,
      key_of(3),
      {[this] { woken += 1; }, [this](Request request) { submitted.push_back(std::move(request)); },
       [this](Request request) { again.push_back(std::move(request)); },
       [this](std::uint64_t token, Buffer) { reads.push_back(token); }}};
  int woken = 0;
  std::vector<Request> submitted, again;
  std::vector<std::uint64_t> reads;
  std::vector<std::string> said;

  void ask(const std::string& operation, bool ordered = true, Time deadline = seconds(10)) {
    client.ask(ordered, Buffer(as_bytes(operation)), deadline,
               [this](const Result<Buffer>& answer) {
                 said.push_back(answer ? std::string(as_text(*answer)) : "error");
               });
    client.take(Time{});
  }
  void answer(const Request& to, const Buffer& result, ReplyStatus status = ReplyStatus::done) {
    client.reply(
        {to.client, to.session, to.sequence, status, std::make_shared<const Buffer>(result)});
  }
  void open(std::uint64_t session, std::uint32_t window = 256) {
    const Request request = submitted.back();
    REQUIRE(request.kind == Kind::open);
    answer(request, wire::encode(SessionOpened{session, window}));
  }
};

}  // namespace

TEST_CASE("operations wait for a session, then leave in their order, and are answered") {
  Place place;
  place.ask("a");
  place.ask("b");
  CHECK(place.woken == 2);
  REQUIRE(place.submitted.size() == 1);
  place.open(5);
  REQUIRE(place.submitted.size() == 3);
  CHECK(as_text(place.submitted[1].operation) == "a");
  CHECK(place.submitted[1].session == 5);
  CHECK(place.submitted[1].client == local_client_of(3));
  CHECK(place.submitted[2].sequence == 2);
  place.answer(place.submitted[2], words("of b"));
  place.answer(place.submitted[1], words("of a"));
  place.answer(place.submitted[1], words("twice"));
  CHECK(place.said == std::vector<std::string>{"of b", "of a"});
}

TEST_CASE("no more is under way than the session remembers") {
  Place place;
  for (int i = 0; i < 5; ++i) place.ask(std::to_string(i));
  place.open(5, 2);
  CHECK(place.submitted.size() == 3);
  place.answer(place.submitted[2], words("second"));
  CHECK(place.submitted.size() == 3);  // The first still needs its place.
  place.answer(place.submitted[1], words("first"));
  REQUIRE(place.submitted.size() == 5);
  CHECK(as_text(place.submitted[4].operation) == "3");
}

TEST_CASE("what is not answered is submitted again, and in the end an error") {
  Place place;
  place.ask("a");
  place.client.tick(LocalClient::retry);
  CHECK(place.again.size() == 1);
  place.open(5);
  place.client.tick(2 * LocalClient::retry + std::chrono::milliseconds(1));
  REQUIRE(place.again.size() == 2);
  CHECK(as_text(place.again[1].operation) == "a");
  place.client.tick(seconds(11));
  CHECK(place.said == std::vector<std::string>{"error"});
  // Its place in the session becomes free all the same.
  place.answer(place.submitted[1], words("late"));
  CHECK(place.said.size() == 1);
}

TEST_CASE("a session that had to go costs what was under way, and another one is opened") {
  Place place;
  place.ask("a");
  place.open(5);
  place.ask("b");
  place.answer(place.submitted[1], {}, ReplyStatus::no_session);
  CHECK(place.said == std::vector<std::string>{"error", "error"});
  place.ask("c");
  place.open(6);
  CHECK(place.submitted.back().session == 6);
  CHECK(place.submitted.back().sequence == 1);
}

TEST_CASE("a process that is not admitted any more is told so") {
  Place place;
  place.ask("a");
  place.answer(place.submitted[0], {}, ReplyStatus::refused);
  CHECK(place.said == std::vector<std::string>{"error"});
}

TEST_CASE("a session that a clock of the past asked for is asked for again") {
  Place place;
  place.ask("a");
  place.answer(place.submitted[0], {}, ReplyStatus::no_session);
  CHECK(place.said.empty());
  place.client.tick(seconds(1));
  REQUIRE(place.submitted.size() == 2);
  CHECK(place.submitted[1].sequence > place.submitted[0].sequence);
  place.open(5);
  CHECK(as_text(place.submitted.back().operation) == "a");
}

TEST_CASE(
    "a session is asked for with a number above the last one, however far back the clock is") {
  Place place;
  place.ask("a");
  const Sequence last = place.submitted[0].sequence + 3'600'000'000'000;
  place.answer(place.submitted[0], wire::encode(Outnumbered{last}), ReplyStatus::no_session);
  place.client.tick(seconds(1));
  REQUIRE(place.submitted.size() == 2);
  CHECK(place.submitted[1].sequence == last + 1);
  place.open(5);
  CHECK(as_text(place.submitted.back().operation) == "a");
}

TEST_CASE("a read is ordered where the replica does not lead") {
  Place place;
  place.ask("r", false);
  REQUIRE(place.reads.size() == 1);
  place.client.read_reply(place.reads[0], true, words("read"));
  CHECK(place.said == std::vector<std::string>{"read"});

  place.ask("s", false);
  place.client.read_reply(place.reads[1], false, {});
  place.open(5);
  CHECK(as_text(place.submitted.back().operation) == "s");
}

TEST_CASE("whatever is asked when the replica is gone is answered at once") {
  Place place;
  place.ask("a");
  place.ask("r", false);
  place.client.close({Errc::timeout, "gone"});
  CHECK(place.said.size() == 2);
  place.ask("b");
  CHECK(place.said.size() == 3);
}
