#include "smr/link/authenticator.h"

#include <doctest/doctest.h>

#include "smr/replica/testing.h"

using namespace piracema;
using namespace piracema::smr;
using namespace piracema::smr::testing;

namespace {

constexpr ClientId ann = 7, bob = 8;

std::vector<MemberInfo> members() {
  return {{0, "", hex_key_of(10)}, {1, "", hex_key_of(11)}, {2, "", hex_key_of(12)}};
}

KeyAuthenticator replica(FaultModel model, ReplicaId me) {
  return KeyAuthenticator(model, me, key_of(static_cast<std::uint8_t>(10 + me)),
                          {{ann, key_of(1).public_key()}, {bob, key_of(2).public_key()}},
                          key_of(3).public_key());
}

Request asked(FaultModel model, Kind kind = Kind::ordered) {
  RequestProver prover(key_of(1), model);
  REQUIRE(prover.use_members(members()).ok());
  Request request{.client = ann, .session = 3, .sequence = 5, .kind = kind};
  request.operation = Buffer(as_bytes("put a b"));
  prover.prove(request);
  return request;
}

}  // namespace

TEST_CASE("each replica finds its own MAC in a request") {
  const Request request = asked(FaultModel::byzantine);
  for (const ReplicaId me : {0u, 1u, 2u}) {
    CHECK(replica(FaultModel::byzantine, me).verify(request));
  }
  CHECK_FALSE(replica(FaultModel::byzantine, 3).verify(request));
}

TEST_CASE("a request of which anything was changed convinces nobody") {
  const auto verifies = [](auto change) {
    Request request = asked(FaultModel::byzantine);
    change(request);
    return replica(FaultModel::byzantine, 1).verify(request);
  };
  CHECK(verifies([](Request&) {}));
  CHECK_FALSE(verifies([](Request& r) { r.client = bob; }));
  CHECK_FALSE(verifies([](Request& r) { r.client = 99; }));
  CHECK_FALSE(verifies([](Request& r) { r.session += 1; }));
  CHECK_FALSE(verifies([](Request& r) { r.sequence += 1; }));
  CHECK_FALSE(verifies([](Request& r) { r.kind = Kind::parallel; }));
  CHECK_FALSE(verifies([](Request& r) { r.group += 1; }));
  CHECK_FALSE(verifies([](Request& r) { r.operation.data()[0] ^= std::byte{1}; }));
  CHECK_FALSE(verifies([](Request& r) { r.proof.resize(r.proof.size() - 1); }));
  CHECK_FALSE(verifies([](Request& r) { r.proof.clear(); }));
}

TEST_CASE("one bad MAC in the vector is seen by its replica alone") {
  Request request = asked(FaultModel::byzantine);
  request.proof.data()[1 + 20 + 4] ^= std::byte{1};  // The first byte of replica 1's.
  CHECK(replica(FaultModel::byzantine, 0).verify(request));
  CHECK_FALSE(replica(FaultModel::byzantine, 1).verify(request));
  CHECK(replica(FaultModel::byzantine, 2).verify(request));
}

TEST_CASE("sessions are opened with a signature, which convinces every replica") {
  for (const FaultModel model : {FaultModel::crash, FaultModel::byzantine}) {
    Request request = asked(model, Kind::open);
    for (const ReplicaId me : {0u, 1u, 2u, 3u}) CHECK(replica(model, me).verify(request));
    request.client = bob;
    CHECK_FALSE(replica(model, 0).verify(request));
  }
}

TEST_CASE("the administrator alone changes the view") {
  Request request = asked(FaultModel::crash, Kind::reconfigure);
  CHECK_FALSE(replica(FaultModel::crash, 0).verify(request));
  RequestProver administrator(key_of(3), FaultModel::crash);
  administrator.prove(request);
  CHECK(replica(FaultModel::crash, 0).verify(request));
}

TEST_CASE("replicas that only crash are believed, but for clients that nobody knows") {
  Request request = asked(FaultModel::crash);
  CHECK(request.proof.empty());
  CHECK(replica(FaultModel::crash, 0).verify(request));
  request.client = 99;
  CHECK_FALSE(replica(FaultModel::crash, 0).verify(request));
}

TEST_CASE("a replica's signature is known by its key, of earlier views too") {
  KeyAuthenticator one = replica(FaultModel::byzantine, 1);
  REQUIRE(one.use_members(members()).ok());
  const Buffer signature = replica(FaultModel::byzantine, 0).sign(as_bytes("collect"));
  CHECK(one.verify(0, as_bytes("collect"), signature));
  CHECK_FALSE(one.verify(2, as_bytes("collect"), signature));
  CHECK_FALSE(one.verify(9, as_bytes("collect"), signature));
  REQUIRE(one.use_members({members()[1]}).ok());
  CHECK(one.verify(0, as_bytes("collect"), signature));
}
