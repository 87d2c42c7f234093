#include "smr/order/messages/messages.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "smr/order/messages/batch.h"
#include "smr/order/messages/digest.h"
#include "smr/order/messages/log_record.h"
#include "smr/order/messages/statements.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

Request request_of(ClientId client, Sequence sequence, std::string_view operation) {
  return {client,
          7,
          sequence,
          Kind::parallel,
          3,
          Buffer(as_bytes(operation)),
          Buffer(as_bytes("proof"))};
}

BatchPtr some_batch() { return make_batch(5, {request_of(1, 2, "put"), request_of(3, 4, "")}); }

DecisionProof some_proof() {
  return {9, digest_of(as_bytes("history")), {{2, Buffer(as_bytes("signature"))}}};
}

View some_view() { return {3, FaultModel::byzantine, 1, {{0, "a:1", "k0"}, {1, "b:1", "k1"}}}; }

Collect some_collect() {
  const Digest digest = digest_of(as_bytes("x"));
  return {1,
          0,
          4,
          some_proof(),
          {{10, Vote{2, digest}, {{2, digest}}}, {11, {}, {}}},
          Buffer(as_bytes("s"))};
}

std::vector<Message> one_of_each() {
  const Digest digest = digest_of(as_bytes("x"));
  CheckpointInfo info{8, digest, digest, 100, 50, 2, 6, some_view(), some_view(), 40};
  std::vector<Message> all{Propose{1, 2, some_batch()},
                           Write{1, 2, digest},
                           Accept{1, 2, digest},
                           Forward{{request_of(1, 2, "forwarded")}},
                           Heartbeat{3, 1, 2},
                           Milestone{32, digest, Buffer(as_bytes("s"))},
                           Stop{0, 3, true},
                           StopData{some_collect()},
                           Sync{0, 4, {some_collect(), some_collect()}},
                           FetchBatch{3, digest},
                           FetchedBatch{3, some_batch()},
                           Behind{3, 1},
                           Decided{3, digest},
                           ConfirmLeader{3, 1, 2},
                           LeaderConfirmed{3, 1, 2},
                           CheckpointVote{8, digest, Buffer(as_bytes("s"))},
                           StateRequest{77, 3},
                           StateOffer{77, 1, 2, 9, 12, 4, some_proof(), CheckpointProof{info, {}}},
                           ManifestRequest{8},
                           Manifest{8, {digest, digest}},
                           ChunkRequest{8, 1},
                           Chunk{8, 1, std::make_shared<const Buffer>(as_bytes("chunk"))},
                           LogRequest{5, true},
                           LogSuffix{5, {some_batch()->digest}, {some_batch()}, some_proof()},
                           ViewVote{some_view(), Buffer(as_bytes("s"))},
                           SignedView{some_view(), {{1, Buffer(as_bytes("s"))}}},
                           TrailRequest{8, 40, true},
                           Trail{8, true, {1, 2, 3}},
                           Gone{8, 9}};
  REQUIRE(all.size() == std::variant_size_v<Message>);
  return all;
}

std::vector<LogRecord> one_record_of_each() {
  const Digest digest = digest_of(as_bytes("x"));
  std::vector<LogRecord> all{ProposalTaken{4, 1, some_batch()},
                             ProposalRepeated{4, 2, digest},
                             ValueCertified{4, 1, digest},
                             RegencyEntered{3},
                             InstanceDecided{4, digest, nullptr},
                             ProofKept{some_proof()},
                             ViewScheduled{6, some_view()},
                             StopSaid{4},
                             MemoryRegained{5, 6},
                             CheckpointStable{},
                             ViewSigned{{some_view(), {}}}};
  REQUIRE(all.size() == std::variant_size_v<LogRecord>);
  return all;
}

Buffer whole(const EncodedMessage& encoded) {
  Buffer out(encoded.head);
  if (encoded.body) out.append(encoded.body->data(), encoded.body->size());
  return out;
}

bool equal(Bytes a, Bytes b) { return as_text(a) == as_text(b); }

}  // namespace

TEST_CASE("every message comes back as it was") {
  for (const Message& message : one_of_each()) {
    CAPTURE(name_of(message));
    const Buffer bytes = whole(encode(message));
    const auto back = decode_message(bytes);
    REQUIRE(back.ok());
    CHECK((*back)->index() == message.index());
    CHECK(equal(whole(encode(**back)), bytes));
  }
}

TEST_CASE("every log record comes back as it was") {
  for (const LogRecord& record : one_record_of_each()) {
    const Buffer bytes = whole(encode(record));
    const auto back = decode_record(bytes);
    REQUIRE(back.ok());
    CHECK(back->index() == record.index());
    CHECK(equal(whole(encode(*back)), bytes));
    CHECK(instance_of(*back) == instance_of(record));
  }
}

TEST_CASE("a batch is encoded once, whoever sends it") {
  const BatchPtr batch = some_batch();
  CHECK(encode(Message(Propose{1, 0, batch})).body.get() == &batch->encoded);
  CHECK(encode(Message(FetchedBatch{1, batch})).body.get() == &batch->encoded);
  CHECK(encode(LogRecord(ProposalTaken{1, 0, batch})).body.get() == &batch->encoded);
}

TEST_CASE("a batch that comes back has its requests and its digest") {
  const auto back = decode_batch(Buffer(some_batch()->encoded));
  REQUIRE(back.ok());
  CHECK((*back)->digest == some_batch()->digest);
  CHECK((*back)->time == 5);
  REQUIRE((*back)->requests.size() == 2);
  const Request& request = (*back)->requests[0];
  CHECK(request.client == 1);
  CHECK(request.session == 7);
  CHECK(request.sequence == 2);
  CHECK(request.kind == Kind::parallel);
  CHECK(request.group == 3);
  CHECK(as_text(request.operation) == "put");
  CHECK(as_text(request.proof) == "proof");
}

TEST_CASE("a message that is cut short is refused, wherever it is cut") {
  for (const Message& message : one_of_each()) {
    CAPTURE(name_of(message));
    const Buffer bytes = whole(encode(message));
    const bool has_free_tail = std::holds_alternative<Chunk>(message);
    const std::size_t end = has_free_tail ? bytes.size() - 5 : bytes.size();
    for (std::size_t length = 0; length < end; ++length) {
      CHECK_FALSE(decode_message(Bytes(bytes).first(length)).ok());
    }
  }
}

TEST_CASE("bytes of an enemy are refused or read, and never more than that") {
  Random random(1);
  for (const Message& message : one_of_each()) {
    const Buffer bytes = whole(encode(message));
    for (int round = 0; round < 300; ++round) {
      Buffer bad(bytes);
      for (std::uint64_t i = 0; i <= random.below(3); ++i) {
        bad.data()[random.below(bad.size())] = static_cast<std::byte>(random.next());
      }
      const auto back = decode_message(bad);
      // What it says was there in the bytes: a list that lies about its length was refused.
      if (back.ok()) CHECK(whole(encode(**back)).size() == bad.size());
    }
  }
}

TEST_CASE("a kind that no request has is refused") {
  Buffer bytes;
  encode(request_of(1, 2, "x"), bytes);
  REQUIRE(decode_request(bytes).ok());
  bytes.data()[24] = static_cast<std::byte>(static_cast<int>(Kind::admit) + 1);
  CHECK_FALSE(decode_request(bytes).ok());
}

TEST_CASE("a statement of one kind is no statement of another") {
  const Digest digest = digest_of(as_bytes("x"));
  CHECK_FALSE(
      equal(signed_bytes(Milestone{8, digest, {}}), signed_bytes(CheckpointVote{8, digest, {}})));
  Collect collect = some_collect();
  const Buffer before = signed_bytes(collect);
  collect.entries[0].certified->regency += 1;
  CHECK_FALSE(equal(signed_bytes(collect), before));
}
