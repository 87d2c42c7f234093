#include "smr/storage/storage.h"

#include <doctest/doctest.h>

#include <set>

#include "base/random.h"
#include "base/text.h"
#include "smr/order/messages/batch.h"
#include "smr/order/messages/digest.h"
#include "store/disk/memory_disk.h"

namespace piracema::smr {

namespace {

using store::LogGroup;
using store::MemoryDisk;

StorageSettings settings(std::uint64_t nonce, bool first = false) {
  return {.me = 2,
          .group = "locks",
          .nonce = nonce,
          .first_start = first,
          .segment_bytes = 2'048,
          .ahead_bytes = 0};
}

// A replica's process: opens the disk, appends, commits.
struct Process {
  Process(MemoryDisk& disk, std::uint64_t nonce, bool first = false) {
    auto done = Storage::open(disk, settings(nonce, first));
    if (!done) {
      error = done.error();
      return;
    }
    opened = *std::move(done);
    next = opened.storage->first_sequence();
  }
  void append(const LogRecord& record) {
    const EncodedMessage encoded = encode(record);
    Buffer& body = group.begin();
    body.append(encoded.head.data(), encoded.head.size());
    if (encoded.body) body.append(encoded.body->data(), encoded.body->size());
    group.end();
    opened.storage->index().note(next++, record);
  }
  bool commit() { return opened.storage->commit(group).ok(); }
  bool truncate(Instance instance) {
    auto truncation = opened.storage->index().truncate(instance);
    for (const LogRecord& record : truncation.again) append(record);
    if (!group.empty() && !commit()) return false;
    opened.storage->truncate(truncation.floor);
    return opened.storage->checkpoints().forget_before(instance).ok();
  }
  const std::vector<LogRecord>& log() const { return opened.recovered.log; }
  template <class R>
  std::vector<R> all() const {
    std::vector<R> found;
    for (const LogRecord& record : log()) {
      if (const R* one = std::get_if<R>(&record)) found.push_back(*one);
    }
    return found;
  }

  Storage::Opened opened;
  std::optional<Error> error;
  LogGroup group;
  store::LogSequence next = 1;
};

/// A replica's disk, and the one beside it with the file that says that the replica was there.
struct FirstStart {
  explicit FirstStart(std::uint64_t seed) : disk(seed), beside(seed + 1'000) {}

  /// Whether it got to where it may promise something.
  bool start() {
    const auto opened = Storage::open_marked(beside, "began", disk, settings(++nonce));
    if (!opened) return false;
    remembers = !opened->recovered.amnesia;
    return true;
  }
  bool start_until(std::uint64_t step) {
    disk.stop_after(step);
    return start();
  }
  void lose_power() {
    disk.crash();
    beside.crash();
  }

  MemoryDisk disk, beside;
  std::uint64_t nonce = 0;
  bool remembers = false;
};

BatchPtr batch_of(std::string_view text) {
  Request request{1, 1, 1, Kind::ordered, 0, Buffer(as_bytes(text)), {}};
  return make_batch(1, {std::move(request)});
}

Checkpoint checkpoint_at(Instance instance, std::size_t bytes) {
  Buffer image;
  for (std::size_t i = 0; i < bytes; ++i) *image.extend(1) = static_cast<std::byte>(instance + i);
  return make_checkpoint(instance, 9, image, 100);
}

CheckpointStable stable(const Checkpoint& checkpoint) {
  CheckpointStable record;
  record.proof.checkpoint = checkpoint.info;
  record.proof.checkpoint.history = digest_of(as_bytes("history"));
  return record;
}

bool mentions(const std::vector<std::string>& notes, std::string_view what) {
  for (const std::string& note : notes) {
    if (note.find(what) != note.npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a replica finds again what it had promised, in order") {
  MemoryDisk disk;
  {
    Process process(disk, 1, true);
    REQUIRE_FALSE(process.error);
    CHECK_FALSE(process.opened.recovered.amnesia);
    CHECK(process.opened.notes.empty());
    process.append(RegencyEntered{3});
    process.append(ProposalTaken{7, 3, batch_of("an operation")});
    process.append(ValueCertified{7, 3, digest_of(as_bytes("x"))});
    REQUIRE(process.commit());
    process.append(InstanceDecided{7, digest_of(as_bytes("x")), nullptr});  // Never committed.
  }
  disk.crash();
  const Process again(disk, 2);
  REQUIRE(again.log().size() == 4);  // The first says that there is a log.
  CHECK_FALSE(again.opened.recovered.amnesia);
  CHECK(again.opened.recovered.nonce == 2);
  CHECK(std::get<RegencyEntered>(again.log()[1]).regency == 3);
  const auto& taken = std::get<ProposalTaken>(again.log()[2]);
  CHECK(as_text(taken.batch->requests[0].operation) == "an operation");
}

TEST_CASE("an empty disk is a loss of memory unless the group is new") {
  MemoryDisk disk;
  const Process lost(disk, 1);
  CHECK(lost.opened.recovered.amnesia);
  CHECK(mentions(lost.opened.notes, "the disk is empty: this replica may have voted"));
  // And stays one until it is regained, though the disk is not empty any more.
  disk.restart();
  CHECK(Process(disk, 2).opened.recovered.amnesia);
  disk.restart();
  CHECK(Process(disk, 3, true).opened.recovered.amnesia);
}

TEST_CASE("power that is lost at any step of the very first start costs no memory") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::uint64_t step = 0;
    for (bool was_there = false; !was_there; ++step) {
      CAPTURE(step);
      FirstStart replica(seed);
      was_there = replica.start_until(step);
      if (was_there) CHECK(replica.remembers);
      replica.lose_power();
      if (!was_there && random.chance(0.5)) {
        replica.start_until(random.below(step + 1));
        replica.lose_power();
      }
      // What was cut has promised nothing, and what was there finds it again.
      REQUIRE(replica.start());
      CHECK(replica.remembers);
      // From now on its disk is missed.
      replica.lose_power();
      replica.disk.lose_everything();
      REQUIRE(replica.start());
      CHECK_FALSE(replica.remembers);
    }
    CHECK(step > 4);
  }
}

TEST_CASE("where it cannot be kept that a replica was there it promises nothing") {
  FirstStart replica(1);
  replica.beside.fail_syncs(1);
  CHECK_FALSE(replica.start());
  replica.lose_power();
  REQUIRE(replica.start());
  CHECK(replica.remembers);
}

TEST_CASE("a first start that was cut is told from a disk that somebody has used") {
  MemoryDisk disk;
  REQUIRE_FALSE(Process(disk, 1, true).error);
  disk.restart();
  REQUIRE(disk.remove("replica").ok());
  SUBCASE("by what else is there") {
    REQUIRE(disk.create("checkpoint-0000000000000001", 1).ok());
    CHECK(Process(disk, 2, true).opened.recovered.amnesia);
  }
  SUBCASE("by whoever does not say that it is the first start") {
    CHECK(Process(disk, 2).opened.recovered.amnesia);
  }
  SUBCASE("and begins once more") { CHECK_FALSE(Process(disk, 2, true).opened.recovered.amnesia); }
}

TEST_CASE("a log that is gone is a loss of memory, however early, and is called so") {
  MemoryDisk disk;
  REQUIRE_FALSE(Process(disk, 1, true).error);
  disk.restart();
  REQUIRE(disk.remove("log-0000000000000001").ok());
  const Process lost(disk, 2, true);
  REQUIRE_FALSE(lost.error);
  CHECK(lost.opened.recovered.amnesia);
  CHECK(mentions(lost.opened.notes, "the log is missing: there is a file 'replica'"));
}

TEST_CASE(
    "a damaged file that says whose directory it is is called so, and the log is not blamed") {
  MemoryDisk disk;
  REQUIRE_FALSE(Process(disk, 1, true).error);
  disk.crash();
  REQUIRE(disk.rot("replica", 10, 1));
  const Process lost(disk, 2, true);
  REQUIRE_FALSE(lost.error);
  CHECK(lost.opened.recovered.amnesia);
  CHECK(mentions(lost.opened.notes, "the file 'replica' is damaged: its checksum is not that of"));
  CHECK_FALSE(mentions(lost.opened.notes, "the log"));
}

TEST_CASE("memory that was regained stays regained, through restarts and truncation") {
  MemoryDisk disk;
  {
    Process process(disk, 1);
    REQUIRE(process.opened.recovered.amnesia);
    process.append(RegencyEntered{5});
    process.append(MemoryRegained{100, 5});
    REQUIRE(process.commit());
  }
  disk.crash();
  {
    Process process(disk, 2);
    CHECK_FALSE(process.opened.recovered.amnesia);
    for (Instance i = 101; i < 200; ++i) process.append(ProposalTaken{i, 5, batch_of("op")});
    REQUIRE(process.commit());
    REQUIRE(process.truncate(180));
    process.append(ProposalTaken{200, 5, batch_of("op")});
    REQUIRE(process.commit());
  }
  disk.crash();
  const Process last(disk, 3);
  CHECK_FALSE(last.opened.recovered.amnesia);
  CHECK(last.all<ProposalTaken>().front().instance == 181);
  REQUIRE(last.all<MemoryRegained>().size() == 1);
  CHECK(last.all<MemoryRegained>()[0].instance == 100);
  CHECK(last.all<RegencyEntered>()[0].regency == 5);
}

TEST_CASE("a damaged log is reported, thrown away, and the replica knows that it has forgotten") {
  MemoryDisk disk;
  {
    Process process(disk, 1, true);
    for (Instance i = 1; i < 50; ++i) process.append(ProposalTaken{i, 0, batch_of("op")});
    REQUIRE(process.commit());
    REQUIRE(process.opened.storage->settle());
  }
  disk.crash();
  REQUIRE(disk.rot("log-0000000000000001", 500, 1));
  {
    const Process process(disk, 2);
    REQUIRE_FALSE(process.error);
    CHECK(process.opened.recovered.amnesia);
    CHECK(process.log().empty());
    CHECK(mentions(process.opened.notes, "records are lost that were durable"));
  }
  disk.restart();
  CHECK(Process(disk, 3).opened.recovered.amnesia);
}

TEST_CASE("whatever is lost of the disk, a replica that forgets a promise knows that it has") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    MemoryDisk disk(seed);
    std::size_t promised = 0;
    std::uint64_t nonce = 1;
    bool clean = true;  // No damage so far: nothing may be forgotten.
    {
      Process process(disk, nonce++, true);
      process.append(RegencyEntered{0});
      REQUIRE(process.commit());
      promised = 1;
    }
    for (int life = 0; life < 5; ++life) {
      disk.stop_after(random.below(40));
      {
        Process process(disk, nonce++);
        while (!process.error) {
          process.append(RegencyEntered{static_cast<Regency>(promised)});
          if (!process.commit()) break;
          promised += 1;
        }
      }
      random.chance(0.5) ? disk.crash() : disk.restart();
      if (random.chance(0.3)) {
        // While nothing is running: what was written has long been settled.
        auto settled = Storage::open(disk, settings(nonce++));
        if (settled && settled->storage->settle()) disk.restart();
        if (random.chance(0.5) ? disk.rot_somewhere("log-") : disk.rot_somewhere("replica")) {
          clean = false;
        }
      }
      const Process after(disk, nonce++);
      REQUIRE_MESSAGE(!after.error, after.error->message);
      const bool all_there = after.log().size() >= promised;
      CHECK((all_there || after.opened.recovered.amnesia));
      if (clean) CHECK_FALSE(after.opened.recovered.amnesia);
      promised = after.log().size();
      disk.restart();
    }
  }
}

TEST_CASE("truncation at any moment loses neither the regency nor a vote that is needed") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    MemoryDisk disk(seed);
    {
      Process process(disk, 1, true);
      process.append(RegencyEntered{4});
      process.append(StopSaid{5});
      SignedView signed_view;
      signed_view.view.id = 1;
      process.append(ViewSigned{signed_view});
      for (Instance i = 1; i <= 100; ++i) process.append(ProposalTaken{i, 4, batch_of("op")});
      REQUIRE(process.commit());
      disk.stop_after(random.below(14));
      if (process.truncate(90)) {
        process.append(ProposalTaken{101, 4, batch_of("op")});
        process.commit();
      }
    }
    disk.crash();
    const Process after(disk, 2);
    REQUIRE_FALSE(after.error);
    CHECK_FALSE(after.opened.recovered.amnesia);
    REQUIRE_FALSE(after.all<RegencyEntered>().empty());
    CHECK(after.all<RegencyEntered>().back().regency == 4);
    CHECK(after.all<StopSaid>().back().regency == 5);
    CHECK(after.all<ViewSigned>().back().view.view.id == 1);
    std::set<Instance> there;
    for (const ProposalTaken& taken : after.all<ProposalTaken>()) there.insert(taken.instance);
    for (Instance i = 91; i <= 100; ++i) CHECK(there.count(i) == 1);
  }
}

TEST_CASE("the disk of another replica or group is refused and left alone") {
  MemoryDisk disk;
  Process(disk, 1, true).append(RegencyEntered{1});
  disk.restart();
  StorageSettings other = settings(2);
  other.me = 3;
  const auto opened = Storage::open(disk, other);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == Errc::config);
  CHECK(opened.error().message ==
        "want the directory of replica 3 of group \"locks\", found that of replica 2 of group "
        "\"locks\"");
  CHECK_FALSE(Process(disk, 3).opened.recovered.amnesia);
}

TEST_CASE("a checkpoint of another version is refused: nobody else may have the state") {
  MemoryDisk disk;
  const Checkpoint only = checkpoint_at(100, 950);
  {
    Process process(disk, 1, true);
    REQUIRE(process.opened.storage->checkpoints().keep(only));
    process.append(stable(only));
    REQUIRE(process.commit());
  }
  disk.restart();
  REQUIRE(disk.rot("checkpoint-0000000000000064", 8, 1));
  const auto opened = Storage::open(disk, settings(2));
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == Errc::refused);
  CHECK(opened.error().message.starts_with(
      "checkpoint-0000000000000064: want a checkpoint of version 1, found version "));
}

TEST_CASE("pieces that are made again for the disk have to be the same again") {
  MemoryDisk disk;
  Process process(disk, 1, true);
  std::string image(950, 'x');
  const auto write = [&image](const Checkpoint::Use& use) { use(as_bytes(image)); };
  const Checkpoint checkpoint = make_checkpoint(100, 9, 100, write, Pieces::made_again);
  CHECK(checkpoint.chunks.empty());
  CheckpointFiles& files = process.opened.storage->checkpoints();
  REQUIRE(files.keep(checkpoint));
  CHECK(as_text(files.load(checkpoint.info)->bytes) == image);
  image[420] = 'y';
  CHECK(files.keep(checkpoint).error().message ==
        "checkpoint-0000000000000064: the state machine does not write the same image twice: "
        "piece 4 differs");
  image = std::string(400, 'x');
  CHECK(files.keep(checkpoint).error().message ==
        "checkpoint-0000000000000064: the state machine does not write the same image twice: it "
        "ends early");
}

TEST_CASE("recovery begins with the newest stable checkpoint whose bytes are right") {
  MemoryDisk disk;
  const Checkpoint old = checkpoint_at(100, 950), fresh = checkpoint_at(200, 1'050),
                   unstable = checkpoint_at(300, 10);
  {
    Process process(disk, 1, true);
    for (const Checkpoint* one : {&old, &fresh, &unstable}) {
      REQUIRE(process.opened.storage->checkpoints().keep(*one));
    }
    process.append(stable(old));
    process.append(stable(fresh));
    REQUIRE(process.commit());
  }
  disk.crash();
  {
    const Process process(disk, 2);
    REQUIRE(process.opened.recovered.checkpoint);
    CHECK(process.opened.recovered.checkpoint->instance == 200);
    CHECK(process.opened.recovered.checkpoint->history == digest_of(as_bytes("history")));
    CHECK(process.opened.recovered.chunks == fresh.digests);
    CHECK(process.opened.image.size() == 1'050);
  }
  disk.restart();
  REQUIRE(disk.rot("checkpoint-00000000000000c8", 1'200, 1));
  {
    Process process(disk, 3);
    CHECK(process.opened.recovered.checkpoint->instance == 100);
    CHECK(mentions(process.opened.notes, "its bytes are not those of the checkpoint"));
    REQUIRE(process.opened.storage->checkpoints().forget_before(300));
  }
  disk.restart();
  const Process none(disk, 4);
  CHECK_FALSE(none.opened.recovered.checkpoint);
  CHECK_FALSE(none.opened.recovered.amnesia);  // Its votes are all there.
}

TEST_CASE("pieces are given out one by one, and none that is not there") {
  MemoryDisk disk;
  Process process(disk, 1, true);
  CheckpointFiles& files = process.opened.storage->checkpoints();
  const Checkpoint one = checkpoint_at(100, 250);
  REQUIRE(files.keep(one));
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto chunk = files.chunk(100, i);
    REQUIRE(chunk);
    CHECK(as_text(**chunk) == as_text(*one.chunks[i]));
  }
  CHECK(files.chunk(100, 3).error().code == Errc::not_found);
  CHECK(files.chunk(99, 0).error().code == Errc::not_found);
  REQUIRE(files.forget_before(101));
  CHECK(files.chunk(100, 0).error().code == Errc::not_found);
}

TEST_CASE("a checkpoint is received in any order, through crashes, and checked as a whole") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    MemoryDisk disk(seed);
    const Checkpoint sent = checkpoint_at(500, 100 * random.below(20) + random.below(100));
    std::set<std::uint32_t> missing;
    for (std::uint32_t i = 0; i < sent.info.chunk_count; ++i) missing.insert(i);
    std::uint64_t nonce = 1;
    auto process = std::make_unique<Process>(disk, nonce++, true);
    while (!missing.empty()) {
      const auto at = std::next(missing.begin(), static_cast<int>(random.below(missing.size())));
      REQUIRE(process->opened.storage->checkpoints().incoming().store(sent.info, *at,
                                                                      *sent.chunks[*at]));
      missing.erase(at);
      if (!random.chance(0.2)) continue;
      disk.crash();
      process = std::make_unique<Process>(disk, nonce++);
      const auto& partial = process->opened.recovered.partial;
      for (std::uint32_t i = 0; i < sent.info.chunk_count; ++i) {
        const bool there = partial && partial->chunks[i] == sent.digests[i];
        if (there)
          missing.erase(i);
        else
          missing.insert(i);
      }
    }
    const auto image = process->opened.storage->checkpoints().complete(sent.info);
    REQUIRE(image);
    CHECK((*image)->size() == sent.info.bytes);
    disk.crash();
    Process after(disk, nonce++);
    CHECK_FALSE(after.opened.recovered.partial);
    CHECK(after.opened.storage->checkpoints().load(sent.info));
  }
}

TEST_CASE("a checkpoint with a piece missing or false is not kept") {
  MemoryDisk disk;
  Process process(disk, 1, true);
  CheckpointFiles& files = process.opened.storage->checkpoints();
  const Checkpoint one = checkpoint_at(100, 250);
  REQUIRE(files.incoming().store(one.info, 0, *one.chunks[0]));
  CHECK(files.complete(one.info).error().code == Errc::corrupt);
  CHECK(files.incoming().store(one.info, 1, *one.chunks[2]).error().code == Errc::corrupt);
  CHECK(files.incoming().store(one.info, 9, *one.chunks[0]).error().code == Errc::corrupt);
  for (const std::uint32_t i : {0u, 1u, 2u}) {
    REQUIRE(files.incoming().store(one.info, i, *one.chunks[i == 1 ? 0 : i]));
  }
  CHECK(files.complete(one.info).error().code == Errc::corrupt);
  CHECK(files.load(one.info).error().code == Errc::not_found);
}

}  // namespace piracema::smr
