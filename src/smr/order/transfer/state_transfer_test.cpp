#include "smr/order/transfer/state_transfer.h"

#include <functional>
#include <map>
#include <set>

#include "base/random.h"
#include "smr/order/transfer/state_testing.h"

namespace piracema::smr {

namespace {

using std::chrono::milliseconds;

// The replica that is behind, 0, with a clock and whatever its network does.
struct Laggard {
  explicit Laggard(const Others& all, std::optional<PartialCheckpoint> partial = {})
      : others(all),
        keys(0),
        views(0, keys, others.view, milliseconds(100)),
        transfer(0, keys, 77, std::move(partial), milliseconds(100)) {}

  Position at() const { return {views, decided, others_history}; }
  using Network = std::function<MessagePtr(ReplicaId to, const Message& question)>;

  // Until it is idle; false if it is not within so many steps.
  bool run(const Network& network, int steps = 20'000) {
    std::vector<Action> out;
    transfer.start(now, at(), 0, out);
    for (int i = 0; i < steps; ++i) {
      std::vector<Action> todo = std::exchange(out, {});
      for (const Action& action : todo) act(action, network, out);
      if (!out.empty()) continue;
      if (!transfer.active()) return true;
      const auto deadline = transfer.next_deadline();
      if (!deadline) return false;
      now = std::max(now, *deadline);
      transfer.tick(now, at(), out);
    }
    return false;
  }
  bool run() {
    return run([this](ReplicaId, const Message& question) { return others.answer(question); });
  }

  void act(const Action& action, const Network& network, std::vector<Action>& out) {
    if (const auto* store = std::get_if<StoreChunk>(&action)) {
      CHECK(digest_of(Bytes(*store->bytes)) == others.checkpoint.digests[store->chunk]);
      stored.insert(store->chunk);
    } else if (const auto* load = std::get_if<LoadCheckpoint>(&action)) {
      CHECK(stored.size() + had == others.checkpoint.chunks.size());
      const auto loaded = transfer.on_loaded({load->checkpoint.instance, load_error}, out);
      if (loaded) {
        decided = loaded->proof.checkpoint.instance;
        others_history = loaded->proof.checkpoint.history;
        CHECK(loaded->chunks == others.checkpoint.digests);
      }
      load_error.clear();
      transfer.went_on(now, at(), out);
    } else if (const auto* note = std::get_if<Note>(&action)) {
      notes.push_back(note->text);
    } else if (const auto* send = std::get_if<Send>(&action)) {
      CHECK(send->to != 0);
      questions[std::string(name_of(*send->message))] += 1;
      if (const MessagePtr answer = network(send->to, *send->message)) {
        hear(send->to, *answer, out);
      }
    }
  }

  void hear(ReplicaId from, const Message& m, std::vector<Action>& out) {
    if (const auto* offer = std::get_if<StateOffer>(&m)) {
      transfer.on_offer(now, from, *offer, at(), out);
    } else if (const auto* manifest = std::get_if<Manifest>(&m)) {
      transfer.on_manifest(now, from, *manifest, out);
    } else if (const auto* chunk = std::get_if<Chunk>(&m)) {
      transfer.on_chunk(now, from, *chunk, out);
    } else if (const auto* suffix = std::get_if<LogSuffix>(&m)) {
      for (const BatchPtr& batch : transfer.on_suffix(now, from, *suffix, at(), out)) {
        decided += 1;
        REQUIRE(decided <= others.end());
        CHECK(batch->digest == others.batches[decided - 1]->digest);
        others_history = digest_of(others_history, batch->digest);
      }
      transfer.went_on(now, at(), out);
    }
  }

  const Others& others;
  StateKeys keys;
  Reconfiguration views;
  StateTransfer transfer;
  Instance decided = 0;
  Digest others_history{};
  std::set<std::uint32_t> stored;
  std::size_t had = 0;
  std::string load_error;
  std::vector<std::string> notes;
  std::map<std::string, int> questions;
  Time now{};
};

// The message, changed.
template <class M, class Change>
MessagePtr changed(const MessagePtr& original, Change change) {
  M copy = std::get<M>(*original);
  change(copy);
  return message(std::move(copy));
}

}  // namespace

TEST_CASE("a replica that is far behind gets the checkpoint and the batches behind it") {
  for (const FaultModel model : {FaultModel::crash, FaultModel::byzantine}) {
    const Others others(model, 1'000, 1'300, 2'950);
    Laggard laggard(others);
    CHECK(laggard.run());
    CHECK(laggard.decided == 1'300);
    CHECK(laggard.others_history == others.histories[1'300]);
    CHECK(laggard.stored.size() == 30);
    CHECK(laggard.questions["CHUNK-REQUEST"] == 30);
  }
}

TEST_CASE("one that is less far behind gets batches alone") {
  const Others others(FaultModel::byzantine, 1'000, 1'300, 2'000);
  Laggard laggard(others);
  laggard.decided = 1'100;
  laggard.others_history = others.histories[1'100];
  CHECK(laggard.run());
  CHECK(laggard.decided == 1'300);
  CHECK(laggard.questions["MANIFEST-REQUEST"] == 0);
}

TEST_CASE("a state without bytes has no pieces and is fetched all the same") {
  const Others others(FaultModel::byzantine, 64, 64, 0);
  Laggard laggard(others);
  CHECK(laggard.run());
  CHECK(laggard.decided == 64);
}

TEST_CASE("one that nobody is ahead of asks once") {
  const Others others(FaultModel::crash, 0, 50, 0);
  Laggard laggard(others);
  laggard.decided = 50;
  laggard.others_history = others.histories[50];
  CHECK(laggard.run());
  CHECK(laggard.questions["STATE-REQUEST"] == 2);
  CHECK(laggard.questions.size() == 1);
}

TEST_CASE("pieces of a former life are not fetched again, if they are the right ones") {
  const Others others(FaultModel::byzantine, 1'000, 1'000, 2'000);
  PartialCheckpoint partial{others.checkpoint.info, {}};
  for (std::size_t i = 0; i < 20; ++i) {
    partial.chunks.push_back(i % 2 == 0 ? std::optional(others.checkpoint.digests[i])
                                        : some_digest("torn"));
  }
  Laggard laggard(others, partial);
  laggard.had = 10;
  CHECK(laggard.run());
  CHECK(laggard.decided == 1'000);
  CHECK(laggard.questions["CHUNK-REQUEST"] == 10);
}

TEST_CASE("messages may be lost: others are asked until all is there") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto model = random.chance(0.5) ? FaultModel::crash : FaultModel::byzantine;
    const Others others(model, 500, 700, 1'500);
    Laggard laggard(others);
    const auto lossy = [&](ReplicaId, const Message& question) -> MessagePtr {
      if (random.chance(0.4)) return nullptr;
      return others.answer(question);
    };
    while (laggard.decided < 700) REQUIRE(laggard.run(lossy));
    CHECK(laggard.others_history == others.histories[700]);
  }
}

TEST_CASE("one liar among the others cannot deceive it, nor keep it back, whatever it sends") {
  for (int lie = 0; lie < 9; ++lie) {
    CAPTURE(lie);
    const Others others(FaultModel::byzantine, 500, 700, 1'500);
    Laggard laggard(others);
    const auto network = [&](ReplicaId to, const Message& question) -> MessagePtr {
      const MessagePtr answer = others.answer(question);
      if (to != 3) return answer;
      if (std::holds_alternative<StateOffer>(*answer)) {
        return changed<StateOffer>(answer, [&](StateOffer& m) {
          if (lie == 0) m.checkpoint->checkpoint.instance = 5'000;  // Signatures do not fit.
          if (lie == 1) {
            m.checkpoint->checkpoint.instance = 5'000;
            m.checkpoint = signed_checkpoint(m.checkpoint->checkpoint, {3, 3, 3, 7, 8});
          }
          if (lie == 2) {  // A view of its own making.
            m.checkpoint->checkpoint.instance = 5'000;
            m.checkpoint->checkpoint.view.members.resize(1);
            m.checkpoint->checkpoint.view.f = 0;
            m.checkpoint = signed_checkpoint(m.checkpoint->checkpoint, {0, 3});
          }
          if (lie == 3) m.log_from = 1;
          if (lie == 4) m.proof = signed_decision(9'000, some_digest("x"), {3});
        });
      }
      if (lie == 5 && std::holds_alternative<Manifest>(*answer)) {
        return changed<Manifest>(answer, [](Manifest& m) { m.chunks[3] = some_digest("x"); });
      }
      if (lie == 6 && std::holds_alternative<Chunk>(*answer)) {
        return changed<Chunk>(answer, [](Chunk& m) {
          m.bytes = std::make_shared<const Buffer>(as_bytes("a false piece"));
        });
      }
      if (lie >= 7 && std::holds_alternative<LogSuffix>(*answer)) {
        return changed<LogSuffix>(answer, [&](LogSuffix& m) {
          if (lie == 7 && !m.digests.empty()) m.digests[0] = some_digest("x");
          if (lie == 8 && !m.batches.empty()) m.batches[0] = make_batch(666, {});
        });
      }
      return answer;
    };
    REQUIRE(laggard.run(network));
    CHECK(laggard.decided == 700);
    CHECK(laggard.others_history == others.histories[700]);
    if (lie >= 5) REQUIRE(!laggard.notes.empty());
  }
}

TEST_CASE("a liar is named and not asked again") {
  const Others others(FaultModel::byzantine, 500, 500, 3'000);
  Laggard laggard(others);
  int from_liar = 0;
  CHECK(laggard.run([&](ReplicaId to, const Message& question) -> MessagePtr {
    const MessagePtr answer = others.answer(question);
    if (to != 2 || !std::holds_alternative<Chunk>(*answer)) return answer;
    from_liar += 1;
    return changed<Chunk>(answer, [](Chunk& m) { m.bytes = std::make_shared<const Buffer>(); });
  }));
  CHECK(laggard.decided == 500);
  CHECK(from_liar <= static_cast<int>(chunks_in_flight));
  const auto named = [](const std::string& text) {
    return text.find("replica 2 sent a false piece") == 0 &&
           text.find("of the checkpoint at 500: it is not asked again") != text.npos;
  };
  CHECK(std::count_if(laggard.notes.begin(), laggard.notes.end(), named) == 1);
}

TEST_CASE("a checkpoint that the service cannot use is fetched again") {
  const Others others(FaultModel::crash, 500, 500, 300);
  Laggard laggard(others);
  laggard.load_error = "no image of this service";
  CHECK(laggard.run());
  CHECK(laggard.decided == 500);
  REQUIRE(laggard.notes.size() >= 2);
  CHECK(laggard.notes[1] == "the checkpoint at 500 cannot be used: no image of this service");
}

TEST_CASE("when those who offered it have gone on, it asks for what they have now") {
  const Others before(FaultModel::crash, 500, 500, 1'000), after(FaultModel::crash, 900, 950, 500);
  Laggard laggard(after);
  int answered = 0;
  CHECK(laggard.run([&](ReplicaId, const Message& question) -> MessagePtr {
    if (answered++ < 4) return before.answer(question);
    if (const auto* m = std::get_if<ChunkRequest>(&question); m && m->instance != 900) {
      return nullptr;
    }
    return after.answer(question);
  }));
  CHECK(laggard.decided == 950);
}

TEST_CASE(
    "one that nobody could reach for long asks soon when it hears somebody, and of whoever is up") {
  const Others others(FaultModel::crash, 0, 300, 0);
  Laggard laggard(others);
  std::vector<Action> out;
  laggard.transfer.start(laggard.now, laggard.at(), 0, out);
  while (laggard.now < std::chrono::seconds(30)) {
    laggard.now = *laggard.transfer.next_deadline();
    laggard.transfer.tick(laggard.now, laggard.at(), out);
  }
  // Somebody speaks; the other one stays down.
  laggard.transfer.heard(laggard.now, 1);
  const Time heard = laggard.now;
  laggard.now = *laggard.transfer.next_deadline();
  out.clear();
  laggard.transfer.tick(laggard.now, laggard.at(), out);
  REQUIRE(!sent<StateRequest>(out).empty());
  laggard.hear(1, *others.answer(StateRequest{77, 0, 0}), out);
  laggard.now = *laggard.transfer.next_deadline();
  out.clear();
  laggard.transfer.tick(laggard.now, laggard.at(), out);
  CHECK(!sent<LogRequest>(out).empty());
  CHECK(laggard.now - heard <= milliseconds(400));
}

TEST_CASE("answers to an earlier life are not taken for answers to this one") {
  const Others others(FaultModel::crash, 500, 500, 100);
  Laggard laggard(others);
  std::vector<Action> out;
  laggard.transfer.start(Time{}, laggard.at(), 0, out);
  StateOffer old = std::get<StateOffer>(*others.answer(StateRequest{76, 0, 0}));
  CHECK_FALSE(laggard.transfer.on_offer(Time{}, 1, old, laggard.at(), out));
  old.nonce = 77;
  CHECK(laggard.transfer.on_offer(Time{}, 1, old, laggard.at(), out));
}

TEST_CASE("the batches since a checkpoint are given out in parts that fit a message") {
  DecidedLog log;
  log.restart_after(10);
  Request large{1, 1, 1, Kind::ordered, 0, {}, {}};
  large.operation.resize(suffix_bytes_max / 2);
  for (Instance i = 11; i <= 20; ++i) log.add(i, make_batch(i, {large}));
  CHECK(log.suffix({10, false}).digests.empty());
  CHECK(log.suffix({21, false}).digests.empty());
  CHECK(log.suffix({11, false}).batches.size() == 1);
  CHECK(log.suffix({11, true}).digests.size() == 10);
  CHECK(log.suffix({11, true}).batches.empty());
  log.truncate(15);
  CHECK(log.first() == 16);
  CHECK(log.end() == 21);
}

TEST_CASE(
    "when the only source is cut off, whoever has come to have the log takes its place at once") {
  const Others others(FaultModel::crash, 40, 100, 1'000);
  Laggard behind(others);
  behind.decided = 50;
  bool cut = false;
  Time cut_at{};
  CHECK(behind.run([&](ReplicaId to, const Message& question) -> MessagePtr {
    // One of the others has nothing yet when it is asked first.
    if (to == 2 && !cut) {
      if (!std::holds_alternative<StateRequest>(question)) return nullptr;
      StateOffer nothing = std::get<StateOffer>(*others.answer(question));
      nothing.decided = nothing.voted = 10;
      nothing.checkpoint.reset();
      nothing.proof = {};
      return message(nothing);
    }
    if (to == 1 && std::holds_alternative<LogRequest>(question)) {
      if (!cut) cut_at = behind.now;
      cut = true;
    }
    return to == 1 && cut ? nullptr : others.answer(question);
  }));
  CHECK(behind.decided == others.end());
  // And then it asks everybody once more, one of whom is silent.
  CHECK(behind.now <= cut_at + quiet_after + milliseconds(200));
}

// The other one has given the log away, and offers a newer checkpoint.
TEST_CASE("a single answer that is lost is no reason to fetch a checkpoint in place of the log") {
  const Others has_log(FaultModel::crash, 40, 400, 1'000), has_none(FaultModel::crash, 300, 400, 1);
  for (const bool answers : {true, false}) {
    Laggard behind(has_log);
    behind.decided = 50;
    std::vector<Action> out;
    const MessagePtr offer = has_none.answer(StateRequest{77, 50, 0});
    behind.transfer.start(behind.now, behind.at(), 0, out);
    behind.hear(1, *has_log.answer(StateRequest{77, 50, 0}), out);
    behind.hear(2, *offer, out);
    REQUIRE(sent<LogRequest>(out).size() == 1);
    out.clear();
    behind.now = *behind.transfer.next_deadline();
    behind.transfer.tick(behind.now, behind.at(), out);
    REQUIRE(sent<LogRequest>(out).size() == 1);
    const LogRequest again = sent<LogRequest>(out)[0].second;
    behind.hear(2, *offer, out);
    CHECK(sent<ManifestRequest>(out).empty());
    if (answers) {
      behind.transfer.heard(behind.now, 1);
      behind.hear(1, *has_log.answer(again), out);
    }
    behind.now += milliseconds(200);
    behind.transfer.tick(behind.now, behind.at(), out);
    CHECK(sent<ManifestRequest>(out).empty() == answers);
  }
}

}  // namespace piracema::smr
