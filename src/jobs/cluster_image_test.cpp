#include "jobs/cluster_image.h"

#include <doctest/doctest.h>

#include <random>

#include "base/hex.h"
#include "jobs/cluster_fixture.h"

using namespace piracema;
using namespace piracema::jobs;
using namespace piracema::jobs::testing;

namespace {

// As commit aa0568c wrote it: a node, a job that has said "hello", and one that waits.
constexpr const char* image_of_version_1 =
    "0200000000000000010000000000000001000000000000006a02000000000000000400000000000000747275"
    "6501000000000000007801000000000000000300000000000000413d62000000000000000001000000020000"
    "0000000000000000000000000001010000000000000061000000000000000000000000000000000001000000"
    "00000000000000000000000000000000000000000042420f000000000042420f000000000000000000000000"
    "00050000000000000068656c6c6f0000000000000000020000000000000001000000000000006b0100000000"
    "0000000400000000000000747275650000000000000000000000000000000001000000010000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "0000000000003700000000000000776169747320666f72203120736c6f743a2061206861732030206f662032"
    "20667265652c20616e64206973206b65707420666f7220697443420f00000000000000000000000000000000"
    "0000000000000000000000000000000000000000000100000000000000010000000000000061010000000000"
    "0000020000000300000000000000682d61010000000000000002000000000000002f64000001000000000000"
    "0000000000000000000001731700000000000044420f00000000000200000000000000020000000200000000"
    "0000000019e2d4e8000000eb03000000000000";

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

TEST_CASE("an image from before there were users is read: all jobs are the first user's") {
  ClusterState state;
  REQUIRE(state.restore(as_bytes(*store::from_hex(image_of_version_1))));
  CHECK(state.jobs().size() == 2);
  CHECK(state.jobs().at(1).output == "hello");
  CHECK(state.jobs().at(2).spec.name == "k");
  CHECK(state.jobs().at(2).owner == Owner{"admin", ""});
  CHECK(state.nodes().at("a").slots == 2);
  CHECK(state.users().all().size() == 1);
}

TEST_CASE("an image of a later version, or cut, or changed, is no image") {
  SharedCluster cluster;
  cluster.submit(alice);
  const Buffer image = smr::bytes_of(cluster.state.snapshot());
  Buffer later(image);
  later.data()[8] = std::byte{3};
  CHECK(decode_image(later).error().message ==
        "want an image of a cluster of version 1 or 2, found 3");
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
