#include "smr/service/service.h"

#include <doctest/doctest.h>

#include <map>
#include <mutex>
#include <string>

#include "base/random.h"
#include "base/text.h"
#include "smr/service/executor/cells_machine.h"
#include "smr/service/executor/key_executor.h"
#include "smr/service/executor/sequential_executor.h"
#include "wire/fields.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

// Appends what it is told and answers with all that it was told.
class Diary final : public StateMachine {
 public:
  Buffer apply(Bytes operation, const Context& context) override {
    text_ += concat(as_text(operation), "@", context.time, " ");
    return Buffer(as_bytes(text_));
  }
  Buffer query(Bytes) const override { return Buffer(as_bytes(text_)); }
  Keys keys(Bytes) const override { return {.reads = {}, .writes = {1}, .all = false}; }
  Image snapshot() override {
    return [text = text_](const Sink& sink) { sink(as_bytes(text)); };
  }
  bool restore(Bytes image) override {
    if (as_text(image).starts_with("not a diary")) return false;
    text_ = as_text(image);
    return true;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct Desk {
  explicit Desk(const ServiceSettings& settings = {})
      : service(settings, diary, executor, [this](std::vector<Reply> some) {
          for (Reply& reply : some) replies.push_back(std::move(reply));
        }) {}

  // One batch, and what is answered.
  std::vector<Reply> order(std::vector<Request> requests, std::uint64_t time = 0) {
    auto batch = std::make_shared<Batch>();
    batch->time = time;
    batch->requests = std::move(requests);
    const Execute decided{service.executed() + 1, batch};
    service.execute({&decided, 1});
    return std::exchange(replies, {});
  }
  std::uint64_t open(ClientId client, Sequence sequence = 1) {
    const auto answer = order({Request{client, 0, sequence, Kind::open, 0, {}, {}}});
    REQUIRE(answer.size() == 1);
    REQUIRE(answer[0].status == ReplyStatus::done);
    const auto opened = wire::decode<SessionOpened>(*answer[0].result);
    REQUIRE(opened.ok());
    CHECK(opened->window == Session::window);
    return opened->session;
  }

  Diary diary;
  SequentialExecutor executor{diary};
  std::vector<Reply> replies;
  Service service;
};

Request say(ClientId client, std::uint64_t session, Sequence sequence, std::string_view what) {
  return {client, session, sequence, Kind::ordered, 0, Buffer(as_bytes(what)), {}};
}

}  // namespace

TEST_CASE("a request that comes again is answered as before and not executed again") {
  Desk desk;
  const std::uint64_t session = desk.open(5);
  const auto first = desk.order({say(5, session, 1, "a"), say(5, session, 1, "a")}, 10);
  REQUIRE(first.size() == 1);
  CHECK(as_text(*first[0].result) == "a@10 ");

  desk.order({say(5, session, 2, "b")}, 20);
  const auto again = desk.order({say(5, session, 1, "a")}, 30);
  REQUIRE(again.size() == 1);
  CHECK(again[0].status == ReplyStatus::done);
  CHECK(as_text(*again[0].result) == "a@10 ");
  CHECK(desk.diary.text() == "a@10 b@20 ");
}

TEST_CASE("who opens by a number that another process has drawn is told whose the session is") {
  Desk desk;
  const auto open = [&](std::uint64_t life) {
    const auto answer =
        desk.order({Request{5, 0, 7, Kind::open, 0, wire::encode(Opens{life}), {}}});
    REQUIRE(answer.size() == 1);
    const auto opened = wire::decode<SessionOpened>(*answer[0].result);
    REQUIRE(opened.ok());
    return *opened;
  };
  const SessionOpened first = open(1), other = open(2);
  CHECK(first.life == 1);
  CHECK(other.session == first.session);
  CHECK(other.life == 1);
}

TEST_CASE("requests of one session may come in another order, and each is executed once") {
  Desk desk;
  const std::uint64_t session = desk.open(5);
  desk.order({say(5, session, 3, "c"), say(5, session, 1, "a"), say(5, session, 3, "c"),
              say(5, session, 2, "b")});
  CHECK(desk.diary.text() == "c@0 a@0 b@0 ");
}

TEST_CASE("time never goes back, whatever clock a new leader has") {
  Desk desk;
  const std::uint64_t session = desk.open(5);
  desk.order({say(5, session, 1, "a")}, 50);
  desk.order({say(5, session, 2, "b")}, 40);
  desk.order({say(5, session, 3, "c")}, 60);
  CHECK(desk.diary.text() == "a@50 b@50 c@60 ");
}

TEST_CASE("an open that comes again is the same session, and an old one opens nothing") {
  Desk desk;
  const std::uint64_t first = desk.open(5, 7);
  CHECK(desk.open(5, 7) == first);
  const std::uint64_t second = desk.open(5, 8);
  CHECK(second != first);

  desk.order({Request{5, first, 1, Kind::close, 0, {}, {}}});
  const auto replayed = desk.order({Request{5, 0, 7, Kind::open, 0, {}, {}}});
  REQUIRE(replayed.size() == 1);
  CHECK(replayed[0].status == ReplyStatus::no_session);
  // Whoever has asked, and did not know of the other one, knows now which number will do.
  const auto before = wire::decode<Outnumbered>(*replayed[0].result);
  REQUIRE(before.ok());
  CHECK(before->last == 8);
  CHECK(desk.service.answer_again({5, 0, 7, Kind::open, 0, {}, {}}));
  const auto again = std::exchange(desk.replies, {});
  REQUIRE(again.size() == 1);
  CHECK(as_text(*again[0].result) == as_text(*replayed[0].result));
  CHECK(desk.order({say(5, first, 1, "x")})[0].status == ReplyStatus::no_session);
  CHECK(desk.order({say(5, second, 1, "y")})[0].status == ReplyStatus::done);
}

TEST_CASE("nobody can speak in another client's session") {
  Desk desk;
  const std::uint64_t session = desk.open(5);
  CHECK(desk.order({say(6, session, 1, "x")})[0].status == ReplyStatus::no_session);
  desk.order({Request{6, session, 1, Kind::close, 0, {}, {}}});
  CHECK(desk.order({say(5, session, 1, "y")})[0].status == ReplyStatus::done);
}

TEST_CASE("the session that was used longest ago is evicted, and its client learns of it") {
  Desk desk({.sessions = {.sessions = 3}});
  const std::uint64_t a = desk.open(1), b = desk.open(2), c = desk.open(3);
  desk.order({say(1, a, 1, "a")});
  const std::uint64_t d = desk.open(4);

  CHECK(desk.order({say(2, b, 1, "b")})[0].status == ReplyStatus::no_session);
  CHECK(desk.order({say(1, a, 2, "a")})[0].status == ReplyStatus::done);
  CHECK(desk.order({say(3, c, 1, "c")})[0].status == ReplyStatus::done);
  CHECK(desk.order({say(4, d, 1, "d")})[0].status == ReplyStatus::done);
}

TEST_CASE("who asks again in a session that is gone is told so at once, out of the order") {
  Desk desk({.sessions = {.sessions = 1}});
  const std::uint64_t gone = desk.open(1);
  desk.order({say(1, gone, 1, "a")});
  const std::uint64_t here = desk.open(2);

  CHECK(desk.service.answer_again(say(1, gone, 1, "a")));
  CHECK(desk.service.answer_again(Request{1, 0, 1, Kind::open, 0, {}, {}}));
  REQUIRE(desk.replies.size() == 2);
  CHECK(desk.replies[0].status == ReplyStatus::no_session);
  CHECK(desk.replies[1].status == ReplyStatus::no_session);
  // What may still be opened, or executed, or is none of a session.
  CHECK_FALSE(desk.service.answer_again(say(2, here, 1, "b")));
  CHECK_FALSE(desk.service.answer_again(say(2, here + 1, 1, "b")));
  CHECK_FALSE(desk.service.answer_again(Request{1, 0, 2, Kind::open, 0, {}, {}}));
  CHECK_FALSE(desk.service.answer_again(Request{7, 0, 1, Kind::reconfigure, 0, {}, {}}));
}

TEST_CASE("a client that opens many sessions evicts its own") {
  Desk desk({.sessions = {.sessions = 8, .sessions_of_client = 2}});
  const std::uint64_t other = desk.open(1);
  for (Sequence i = 1; i <= 20; ++i) desk.open(2, i);
  CHECK(desk.order({say(1, other, 1, "a")})[0].status == ReplyStatus::done);
}

TEST_CASE("what is older than the window of a session is forgotten, not executed again") {
  Desk desk;
  const std::uint64_t session = desk.open(5);
  desk.order({say(5, session, 1, "a")});
  desk.order({say(5, session, 1 + Session::window, "b")});
  const auto late = desk.order({say(5, session, 1, "a")});
  REQUIRE(late.size() == 1);
  CHECK(late[0].status == ReplyStatus::forgotten);
  CHECK(desk.diary.text() == "a@0 b@0 ");
}

TEST_CASE("long replies push out older ones, which are then known as executed") {
  Desk desk;
  const std::uint64_t session = desk.open(5);
  const std::string long_one(Session::reply_bytes_max, 'x');
  desk.order({say(5, session, 1, "a")});
  desk.order({say(5, session, 2, long_one)});
  CHECK(desk.order({say(5, session, 1, "a")})[0].status == ReplyStatus::forgotten);
  CHECK(desk.order({say(5, session, 2, long_one)})[0].status == ReplyStatus::done);
}

TEST_CASE("a request of an unknown kind, or without a number, is refused") {
  Desk desk;
  const std::uint64_t session = desk.open(5);
  CHECK(desk.order({say(5, session, 0, "a")})[0].status == ReplyStatus::refused);
  CHECK(desk.order({Request{5, session, 1, static_cast<Kind>(99), 0, {}, {}}})[0].status ==
        ReplyStatus::refused);
  CHECK(desk.diary.text().empty());
}

TEST_CASE("an image is that of its moment although execution goes on, and restores all of it") {
  Desk desk;
  const std::uint64_t session = desk.open(5);
  desk.order({say(5, session, 1, "a")}, 10);
  const auto write = desk.service.snapshot();
  desk.order({say(5, session, 2, "b")}, 20);
  const Checkpoint checkpoint = write();
  CHECK(checkpoint.info.instance == 2);
  CHECK(checkpoint.info.time == 10);

  Desk other;
  REQUIRE(checkpoint.chunks.size() == 1);
  REQUIRE(other.service.restore(2, *checkpoint.chunks[0]).ok());
  CHECK(other.service.executed() == 2);
  CHECK(other.service.snapshot()().info.state == checkpoint.info.state);
  const auto again = other.order({say(5, session, 1, "a"), say(5, session, 2, "b")}, 5);
  REQUIRE(again.size() == 2);
  CHECK(other.diary.text() == "a@10 b@10 ");
}

TEST_CASE("bytes that are no image are refused with a reason and change nothing") {
  Desk desk;
  const std::uint64_t session = desk.open(5);
  desk.order({say(5, session, 1, "a")});
  const Checkpoint right = desk.service.snapshot()();
  const Bytes image = *right.chunks[0];

  CHECK_FALSE(desk.service.restore(2, as_bytes("hello")).ok());
  CHECK(desk.service.restore(9, image).error().message == "checkpoint at 9: found the image of 2");
  for (std::size_t cut = 0; cut < image.size(); ++cut) {
    CHECK_FALSE(desk.service.restore(2, image.first(cut)).ok());
  }
  for (std::size_t at = 0; at < image.size(); ++at) {
    for (const auto value : {std::byte{0}, std::byte{0xFF}}) {
      Buffer changed(image);
      changed.data()[at] = value;
      Desk other;
      const auto restored = other.service.restore(2, changed);
      const bool in_version = at >= 4 && at < 8;
      if (!restored) CHECK(restored.error().code == (in_version ? Errc::refused : Errc::corrupt));
      CHECK(other.service.executed() == (restored.ok() ? 2 : 0));
    }
  }
  CHECK(desk.service.snapshot()().info.state == right.info.state);
}

TEST_CASE("an image of the versions before is read") {
  Desk desk;
  const std::uint64_t session = desk.open(5);
  desk.order({say(5, session, 1, "a")}, 10);
  const Checkpoint now = desk.service.snapshot()();
  const std::string image(as_text(*now.chunks.at(0)));
  const std::string text = desk.diary.text(), length = image.substr(image.size() - 8);
  const std::string ours = image.substr(0, image.size() - 8 - text.size());
  constexpr std::size_t life_at = 104;
  std::string before;
  SUBCASE("3, without the life of its one session") { before = image, before[4] = 3; }
  SUBCASE("2, besides with the length in front") { before = ours + length + text, before[4] = 2; }
  before.erase(life_at, 8);
  Desk other;
  REQUIRE(other.service.restore(2, as_bytes(before)).ok());
  CHECK(other.diary.text() == text);
  CHECK(other.service.snapshot()().info.state == now.info.state);
}

TEST_CASE("an image is cut into pieces with a digest each") {
  Buffer image;
  image.resize(2'500);
  std::fill_n(image.data(), image.size(), std::byte{7});
  const Checkpoint checkpoint = make_checkpoint(3, 4, image, 1'000);
  CHECK(checkpoint.info.chunk_count == 3);
  CHECK(checkpoint.info.bytes == 2'500);
  REQUIRE(checkpoint.chunks.size() == 3);
  CHECK(checkpoint.chunks[2]->size() == 500);
  CHECK(checkpoint.digests[0] == checkpoint.digests[1]);
  CHECK(checkpoint.digests[0] != checkpoint.digests[2]);
  CHECK(checkpoint.info.state == digest_of_chunks(checkpoint.digests));
}

namespace {

// Clients that retry, jump ahead, open and close at random.
std::vector<BatchPtr> draw_batches(Random& random) {
  std::vector<BatchPtr> batches;
  std::map<ClientId, Sequence> highest;
  for (int i = 0; i < 120; ++i) {
    auto batch = std::make_shared<Batch>();
    batch->time = random.below(1'000);
    for (std::uint64_t n = random.below(12); n > 0; --n) {
      const ClientId client = 1 + random.below(6);
      Request request{client, 1 + random.below(8), 1, Kind::ordered, 0, {}, {}};
      if (random.chance(0.1)) {
        request.kind = random.chance(0.8) ? Kind::open : Kind::close;
        request.sequence = 1 + random.below(20);
      } else {
        Sequence& high = highest[client];
        if (random.chance(0.7)) high += random.chance(0.05) ? random.below(300) : 1;
        request.sequence = high - std::min(high, random.below(20));
        auto operation = CellsMachine::draw(random, 0.5, 0.05);
        if (random.chance(0.1)) operation.padding = static_cast<std::uint8_t>(random.below(80));
        request.operation = CellsMachine::encode(operation);
      }
      batch->requests.push_back(std::move(request));
    }
    batches.push_back(std::move(batch));
  }
  return batches;
}

Buffer whole(const Checkpoint& checkpoint) {
  Buffer image;
  for (const auto& chunk : checkpoint.chunks) image.append(chunk->data(), chunk->size());
  return image;
}

Digest state_of(Service& service) { return service.snapshot()().info.state; }

}  // namespace

TEST_CASE("however batches are grouped, threaded and restored on the way, the state is the same") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto batches = draw_batches(random);
    const ServiceSettings settings{.sessions = {.sessions = 5, .sessions_of_client = 3}};
    const auto ignore = [](std::vector<Reply>) {};

    CellsMachine one;
    SequentialExecutor in_order(one);
    Service expected(settings, one, in_order, ignore);
    for (const auto& batch : batches) {
      const Execute decided{expected.executed() + 1, batch};
      expected.execute({&decided, 1});
    }

    auto machine = std::make_unique<CellsMachine>();
    constexpr Prices free_of_charge{.ignored = true};
    auto executor = std::make_unique<KeyExecutor>(*machine, 3, free_of_charge);
    auto service = std::make_unique<Service>(settings, *machine, *executor, ignore);
    for (std::size_t next = 0; next < batches.size();) {
      std::vector<Execute> some;
      for (std::uint64_t n = 1 + random.below(30); n > 0 && next < batches.size(); --n) {
        some.push_back({next + 1, batches[next]});
        ++next;
      }
      service->execute(some);
      if (!random.chance(0.3)) continue;
      const Checkpoint checkpoint = service->snapshot()();
      auto fresh = std::make_unique<CellsMachine>();
      auto its_executor = std::make_unique<KeyExecutor>(*fresh, 3, free_of_charge);
      auto restored = std::make_unique<Service>(settings, *fresh, *its_executor, ignore);
      REQUIRE(restored->restore(service->executed(), whole(checkpoint)).ok());
      service = std::move(restored);
      executor = std::move(its_executor);
      machine = std::move(fresh);
    }
    CHECK(one.cells() == machine->cells());
    CHECK(state_of(expected) == state_of(*service));
  }
}

TEST_CASE("what was said last about a client holds, and its sessions end where it was said") {
  const auto admit = [](Sequence sequence, ClientId client, const std::string& key) {
    return Request{0, 0, sequence, Kind::admit, 0, encode(Admission{client, key}), {}};
  };
  const std::string key(64, 'a');
  Desk desk;
  const std::uint64_t session = desk.open(5);
  const auto answer =
      desk.order({say(5, session, 1, "a"), admit(10, 5, ""), say(5, session, 2, "b")});
  REQUIRE(answer.size() == 3);
  CHECK(desk.diary.text() == "a@0 ");
  CHECK(desk.order({Request{5, 0, 2, Kind::open, 0, {}, {}}}).at(0).status == ReplyStatus::refused);
  CHECK(desk.order({admit(20, 5, key)}).at(0).status == ReplyStatus::done);
  CHECK(desk.open(5, 3) != 0);
  // A copy of the older one is not obeyed, one of the last is answered as before.
  const auto copy = desk.order({admit(10, 5, "")});
  CHECK(copy.at(0).status == ReplyStatus::forgotten);
  // Whoever has asked, by a clock that is behind, knows now which number will do.
  CHECK(wire::decode<Outnumbered>(*copy.at(0).result)->last == 20);
  CHECK(desk.open(5, 4) != 0);
  REQUIRE(desk.service.answer_again(admit(20, 5, key)));
  CHECK(desk.replies.at(0).status == ReplyStatus::done);
  desk.replies.clear();
  CHECK(desk.order({admit(30, 0, key)}).at(0).status == ReplyStatus::refused);
  CHECK(desk.order({admit(31, 6, "no key")}).at(0).status == ReplyStatus::refused);
}

TEST_CASE("a checkpoint tells who was admitted") {
  Desk desk;
  desk.order({Request{0, 0, 7, Kind::admit, 0, encode(Admission{6, std::string(64, 'b')}), {}}});
  std::vector<Admission> told;
  Diary diary;
  SequentialExecutor executor(diary);
  Service restored(
      {}, diary, executor, [](std::vector<Reply>) {},
      [&](const std::vector<Admission>& some) { told = some; });
  REQUIRE(restored.restore(desk.service.executed(), whole(desk.service.snapshot()())).ok());
  REQUIRE(told.size() == 1);
  CHECK(told[0].client == 6);
  CHECK(told[0].public_key == std::string(64, 'b'));
}
