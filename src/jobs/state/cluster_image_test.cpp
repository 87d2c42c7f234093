#include "jobs/state/cluster_image.h"

#include <doctest/doctest.h>

#include <random>

#include "base/hex.h"
#include "jobs/state/cluster_fixture.h"

using namespace piracema;
using namespace piracema::jobs;
using namespace piracema::jobs::testing;

namespace {

// As commit 120683f4 wrote it: a job on the nodes a and b that has said "hello", with a part on b
// and one that a user had run beside it, and a job that waits.
constexpr const char* image_of_version_2 =
    "50495241434c5354020000000200000000000000010000000000000001000000000000006a01000000000000"
    "0004000000000000007472756501000000000000000300000000000000413d62000000000000000002000000"
    "0200000000000000000000000000000001010000000000000061010000000000000001000000000000006202"
    "0000000000000005000000010000000000000062010000000000000005000000000000006167656e74040000"
    "00000000006c696e650100000000800100000000000000610100000000000000030000000000000061736b00"
    "000000000000000100000100000000000000000000000000000000000000000000000040420f000000000040"
    "420f00000000000000000000000000050000000000000068656c6c6f00000000000000000500000000000000"
    "61646d696e0000000000000000020000000000000001000000000000006b0100000000000000040000000000"
    "0000747275650000000000000000000000000000000001000000010000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000370000"
    "0000000000776169747320666f72203120736c6f743a2061206861732030206f66203220667265652c20616e"
    "64206973206b65707420666f7220697440420f00000000000000000000000000000000000000000000000000"
    "000000000000000000000000050000000000000061646d696e00000000000000000200000000000000010000"
    "0000000000610100000000000000020000000300000000000000682d61010000000000000002000000000000"
    "002f640000010000000000000000000000000000000001701700000000000040420f00000000006d69bf3800"
    "000000020000000100000000000000620100000000000000020000000300000000000000682d620000000000"
    "00000002000000000000002f640000010000000000000000000000000000000001701700000000000040420f"
    "00000000007f8fcb0100000000020000000100000000000000050000000000000061646d696e010000000000"
    "00000200000000000000000200000000000000010000000000000040420f0000000000000100000000000000"
    "6100000000000000000000000000000000000000000000000000000000020000000000000040420f00000000"
    "0000010000000000000062000000000000000000000000000000000000000000000000000000000200000000"
    "0000000010a5d4e8000000e803000000000000";

}  // namespace

TEST_CASE("a replica that comes late has the same state") {
  Cluster cluster;
  cluster.join("a");
  for (int i = 0; i < 5; ++i) cluster.submit();
  cluster.join("b");
  const JobId id = cluster(Submit{{.name = "j", .command = {"x"}, .nodes = 2}}).job;
  CHECK(cluster.job(id).state == JobState::waiting);
  cluster.pass(1'000);
  const Buffer image = smr::bytes_of(cluster.state.snapshot());
  ClusterState late;
  REQUIRE(late.restore(image));
  CHECK(as_text(smr::bytes_of(late.snapshot())) == as_text(image));
  CHECK(late.next_deadline() == cluster.state.next_deadline());
  Buffer half(Bytes(image).first(image.size() / 2));
  CHECK_FALSE(late.restore(half));
  CHECK(as_text(smr::bytes_of(late.snapshot())) == as_text(image));
}

TEST_CASE("a replica that comes late knows the same users and owners") {
  SharedCluster cluster;
  const JobId id = cluster.submit(alice);
  const Buffer image = smr::bytes_of(cluster.state.snapshot());
  ClusterState other;
  REQUIRE(other.restore(image));
  CHECK(other.users().all() == cluster.state.users().all());
  CHECK(other.jobs().at(id).owner == Owner{"alice", "al"});
  CHECK(as_text(smr::bytes_of(other.snapshot())) == as_text(image));
}

TEST_CASE("an image of the version before is read: the first node has asked for all parts") {
  ClusterState state;
  REQUIRE(state.restore(as_bytes(*store::from_hex(image_of_version_2))));
  CHECK(state.jobs().size() == 2);
  const Job& job = state.jobs().at(1);
  CHECK(job.output == "hello");
  CHECK_FALSE(job.joins);
  CHECK(job.parts.at(5).node == "b");
  CHECK(job.parts.at(5).asker == "a");
  CHECK(job.parts.at(first_beside).asker.empty());
  CHECK(state.jobs().at(2).spec.name == "k");
  CHECK(state.users().all().size() == 1);
}

TEST_CASE("an image of a later version, or cut, or changed, is no image") {
  SharedCluster cluster;
  cluster.submit(alice);
  const Buffer image = smr::bytes_of(cluster.state.snapshot());
  Buffer later(image);
  later.data()[8] = std::byte{4};
  CHECK(decode_image(later).error().message ==
        "want an image of a cluster of version 2 or 3, found 4");
  for (std::size_t size = 0; size < image.size(); ++size) {
    CHECK_FALSE(decode_image(Bytes(image).first(size)).ok());
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 2'000; ++i) {
    Buffer changed(image);
    changed.data()[random() % changed.size()] = static_cast<std::byte>(random());
    ClusterState state;
    (void)state.restore(changed);
  }
}
