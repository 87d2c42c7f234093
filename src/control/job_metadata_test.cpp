#include "control/job_metadata.h"

#include <doctest/doctest.h>

#include <set>
#include <variant>

#include "wire/checksum.h"
#include "wire/fields.h"
#include "wire/writer.h"

namespace piracema::cluster {

namespace {

std::string graph(std::uint32_t writers = 1) {
  GraphShape shape;
  shape.nodes = {{.name = "reader", .role = Role::source}, {.name = "writer", .role = Role::sink}};
  shape.nodes[1].replicas = writers;
  shape.edges = {{.from = 0, .to = 1}};
  return runtime::encode_shape(shape);
}

JobMetadata begun() {
  JobSettings settings;
  settings.slots = 2;
  settings.snapshots = true;
  settings.earlier.busy = {{"reader", 0.5}};
  settings.stuck_after = milliseconds(700);
  return JobMetadata(settings);
}

/// One of each kind, each where it may be decided.
std::vector<Decision> life() {
  const SavedSnapshot saved{.id = 1, .epoch = 1, .emitted = 70, .parts = {{0, 10, 1}, {1, 20, 2}}};
  return {TermRaised{1},
          JobPlanned{graph(), {}, {0, 1}},
          EpochRaised{1},
          AllStarted{},
          SnapshotBegun{1},
          SnapshotSaved{saved},
          SnapshotCompleted{1},
          SnapshotBegun{2},
          SnapshotGivenUp{2, true},
          FailureCounted{{{1, 1, 4711}}, true},
          ItemBanned{{1, 1, 4711}},
          EpochEnded{1},
          ProcessReplaced{1, 0, true},
          EpochRaised{2},
          EpochFruitful{2},
          ProcessGone{1, 0},
          ScaleBegun{graph(3), {0, 1, 2, 0}, 3},
          ScaleGivenUp{},
          ScaleBegun{graph(3), {0, 1, 2, 0}, 3},
          EpochEnded{2},
          PlanChanged{},
          EpochRaised{3},
          ScaleBegun{graph(1), {0, 1}, 2},
          EpochEnded{3},
          PlanChanged{},
          HostsChanged{{{{"h1", "10.0.0.1"}}, {0, 0}}},
          EpochRaised{4},
          ReplicaEnded{1},
          ReplicaEnded{0},
          StopAccepted{},
          LastCommitBegun{1},
          JobEnded{75, "stopped"},
          ProcessReplaced{0, 0, false},
          TermRaised{2}};
}

bool same(const JobMetadata& a, const JobMetadata& b) {
  return as_text(a.encode()) == as_text(b.encode());
}

}  // namespace

TEST_CASE("decisions alone lead from the metadata of a job that begins to those of one that ends") {
  JobMetadata all = begun();
  std::set<std::size_t> kinds;
  const auto decisions = life();
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    kinds.insert(decisions[i].index());
    const JobMetadata old = all;
    REQUIRE(all.apply(decisions[i]).ok());
    CHECK_FALSE(same(old, all));
    // What is read back is the same, and so is what is made of the rest.
    const auto again = JobMetadata::decode(all.encode());
    REQUIRE(again);
    CHECK(same(*again, all));
    JobMetadata late = begun();
    const std::vector<Decision> log(decisions.begin(),
                                    decisions.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    const auto read = decode_decisions(encode_decisions(log));
    REQUIRE(read);
    for (const Decision& decision : *read) REQUIRE(late.apply(decision).ok());
    CHECK(same(late, all));
  }
  CHECK(kinds.size() == std::variant_size_v<Decision>);
  CHECK(all.emitted_at_snapshot == 70);
  CHECK(all.snapshots.newest() == 1);
  CHECK(all.snapshots.next_id() == 3);
  CHECK(all.incarnations == std::vector<std::uint32_t>{1, 1, 0});
  CHECK(all.settings.slots == 2);
  CHECK(all.skips.size() == 1);
  CHECK(all.all_ended());
  CHECK(all.settings.earlier.busy.at("reader") == 0.5);
  CHECK(all.settings.stuck_after == milliseconds(700));
}

TEST_CASE("a decision that does not fit is refused") {
  JobMetadata job = begun();
  REQUIRE(job.apply(TermRaised{1}).ok());
  const auto refused = [&](const Decision& decision) {
    const auto done = job.apply(decision);
    return !done && done.error().code == Errc::corrupt;
  };
  CHECK(refused(TermRaised{1}));
  CHECK(refused(EpochRaised{1}));  // There is nothing to run yet.
  REQUIRE(job.apply(JobPlanned{graph(), {}, {0, 1}}).ok());
  CHECK(refused(JobPlanned{graph(), {}, {1, 0}}));
  CHECK(refused(EpochRaised{2}));
  CHECK(refused(EpochEnded{0}));
  CHECK(refused(AllStarted{}));
  REQUIRE(job.apply(EpochRaised{1}).ok());
  REQUIRE(job.apply(AllStarted{}).ok());
  CHECK(refused(AllStarted{}));
  CHECK(refused(EpochRaised{2}));  // The one before it holds.
  CHECK(refused(ReplicaEnded{2}));
  CHECK(refused(SnapshotBegun{2}));
  CHECK(refused(SnapshotCompleted{1}));
  CHECK(refused(SnapshotGivenUp{1, false}));
  CHECK(refused(ProcessReplaced{0, 1, false}));
  CHECK(refused(ProcessReplaced{2, 0, false}));
  CHECK(refused(ProcessGone{0, 0}));
  CHECK(refused(ItemBanned{{0, 0, std::nullopt}}));
  CHECK(refused(ScaleGivenUp{}));
  CHECK(refused(PlanChanged{}));
  JobMetadata scaled = job;
  CHECK_FALSE(scaled.apply(ScaleBegun{graph(3), {0, 1}, 2}).ok());  // Three have no place.
  scaled = job;
  CHECK_FALSE(scaled.apply(ScaleBegun{graph(1), {0, 2}, 2}).ok());
  scaled = job;
  CHECK_FALSE(scaled.apply(ScaleBegun{graph(1), {0, 1}, 5'000}).ok());
  scaled = job;
  CHECK_FALSE(scaled.apply(ScaleBegun{"", {}, 2}).ok());
  REQUIRE(job.apply(ScaleBegun{graph(2), {0, 1, 1}, 2}).ok());
  CHECK(refused(ScaleBegun{graph(2), {0, 1, 1}, 2}));
  CHECK(refused(PlanChanged{}));  // What is done by the former plan counts yet.
  REQUIRE(job.apply(JobEnded{0, ""}).ok());
  CHECK(refused(EpochEnded{1}));
}

TEST_CASE(
    "a snapshot that was under way when its coordinator was lost is given up, one whose parts "
    "are all there is not") {
  JobMetadata job = begun();
  for (const Decision& decision : std::vector<Decision>{
           TermRaised{1}, JobPlanned{graph(), {}, {0, 1}}, EpochRaised{1}, SnapshotBegun{1}}) {
    REQUIRE(job.apply(decision).ok());
  }
  JobMetadata saved = job;
  REQUIRE(job.apply(TermRaised{2}).ok());
  CHECK_FALSE(job.snapshots.open());
  CHECK(job.snapshots.given_up() == std::vector<SnapshotId>{1});
  CHECK(job.snapshots.next_id() == 2);  // Its parts may still be on their way.
  REQUIRE(saved.apply(SnapshotSaved{{.id = 1, .epoch = 1, .parts = {{0, 1, 1}, {1, 1, 1}}}}).ok());
  REQUIRE(saved.apply(TermRaised{2}).ok());
  CHECK(saved.snapshots.writing().has_value());
}

TEST_CASE("bytes that are no metadata are refused, and so is another version") {
  JobMetadata job = begun();
  REQUIRE(job.apply(TermRaised{1}).ok());
  const Buffer right = job.encode();
  CHECK(JobMetadata::decode(right).ok());
  for (std::size_t length = 0; length < right.size(); ++length) {
    CHECK_FALSE(JobMetadata::decode(Bytes(right).first(length)).ok());
  }
  for (std::size_t at = 0; at < right.size(); ++at) {
    Buffer wrong = right;
    wrong.data()[at] ^= std::byte{4};
    CHECK_FALSE(JobMetadata::decode(wrong).ok());
  }
  Buffer later = right;
  later.data()[4] = std::byte{9};
  const auto refused = JobMetadata::decode(later);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::refused);
  CHECK(refused.error().message == "job metadata: want version 1 to 7, found 9");
}

// Up to version 5 nothing was said of what was sent and of where slots are: two counts.
constexpr std::size_t no_locations = 2 * sizeof(std::uint64_t);
// Version 6 ended before what says, in a byte, whether all was started.
constexpr std::size_t not_started = 1;
// Version 4 ended before the hosts; that there are none is said by two counts.
constexpr std::size_t no_hosts = 2 * sizeof(std::uint64_t) + not_started;

// `body` without what later versions have: the end, and the last of the settings. Before what was
// said last there are a byte where it is there and eight of its value, and a byte.
Buffer of_version(std::uint32_t version, const JobMetadata& job, std::size_t added_at_end) {
  const Buffer now = job.encode();
  constexpr std::size_t head = 16;
  const std::size_t added_settings = version >= 6   ? 0
                                     : version >= 4 ? no_locations
                                     : version == 3 ? no_locations + 1
                                                    : no_locations + 2 + sizeof(std::uint64_t);
  JobSettings settings = job.settings;
  const std::size_t settings_end = wire::encode(settings).size();
  const Bytes all = Bytes(now).subspan(head, now.size() - head - added_at_end);
  Buffer body(all.first(settings_end - added_settings));
  const Bytes rest = all.subspan(settings_end);
  body.append(rest.data(), rest.size());
  Buffer before;
  wire::Writer out(before);
  out.raw(Bytes(now).first(4));
  out.number(version);
  out.number(wire::checksum(body));
  out.raw(body);
  return before;
}

TEST_CASE("the metadata of a job that could not be scaled are read as those of one that was not") {
  // Version 1 ended before the program, which is the graph, and the plan that is to follow.
  JobMetadata job = begun();
  REQUIRE(job.apply(TermRaised{1}).ok());
  REQUIRE(job.apply(JobPlanned{graph(), {}, {0, 1}}).ok());
  const auto read = JobMetadata::decode(
      of_version(1, job, sizeof(std::uint64_t) + graph().size() + 1 + no_hosts));
  REQUIRE(read);
  CHECK(same(*read, job));
}

TEST_CASE("the metadata of a job without barriers that overtake are read as those of any other") {
  JobMetadata job = begun();
  REQUIRE(job.apply(TermRaised{1}).ok());
  REQUIRE(job.apply(JobPlanned{graph(), {}, {0, 1}}).ok());
  const auto read = JobMetadata::decode(of_version(2, job, no_hosts));
  REQUIRE(read);
  CHECK(same(*read, job));
}

TEST_CASE("the metadata of a job whose broadcasts had no trees are read as those of any other") {
  JobMetadata job = begun();
  REQUIRE(job.apply(TermRaised{1}).ok());
  REQUIRE(job.apply(JobPlanned{graph(), {}, {0, 1}}).ok());
  const auto read = JobMetadata::decode(of_version(3, job, no_hosts));
  REQUIRE(read);
  CHECK(same(*read, job));
}

TEST_CASE("the metadata of a job whose hosts did not change are read as those of any other") {
  JobMetadata job = begun();
  REQUIRE(job.apply(TermRaised{1}).ok());
  REQUIRE(job.apply(JobPlanned{graph(), {}, {0, 1}}).ok());
  const auto read = JobMetadata::decode(of_version(4, job, no_hosts));
  REQUIRE(read);
  CHECK(same(*read, job));
}

TEST_CASE("the metadata of a job whose hosts were nowhere are read as those of any other") {
  JobMetadata job = begun();
  REQUIRE(job.apply(TermRaised{1}).ok());
  REQUIRE(job.apply(JobPlanned{graph(), {}, {0, 1}}).ok());
  REQUIRE(job.apply(HostsChanged{{{{"h1", "10.0.0.1"}}, {0, 0}}}).ok());
  const auto read = JobMetadata::decode(of_version(5, job, not_started));
  REQUIRE(read);
  CHECK(same(*read, job));
}

TEST_CASE("of a job of before nobody knows whether all was started: its outputs are not its own") {
  JobMetadata job = begun();
  REQUIRE(job.apply(TermRaised{1}).ok());
  REQUIRE(job.apply(JobPlanned{graph(), {}, {0, 1}}).ok());
  REQUIRE(job.apply(EpochRaised{1}).ok());
  REQUIRE(job.apply(AllStarted{}).ok());
  const auto read = JobMetadata::decode(of_version(6, job, not_started));
  REQUIRE(read);
  CHECK_FALSE(read->started);
  job.started = false;
  CHECK(same(*read, job));
}

TEST_CASE("where slots are, and what was sent in an earlier run, is not forgotten") {
  JobSettings settings;
  settings.slots = 2;
  settings.earlier = {{{"reader", 0.5}}, {{"reader", 7e9}}};
  settings.locations = {{0, 0}, {1, 1}};
  const auto read = JobMetadata::decode(JobMetadata(settings).encode());
  REQUIRE(read);
  CHECK(read->settings.earlier.sent.at("reader") == 7e9);
  CHECK(read->settings.locations == settings.locations);
}

TEST_CASE("hosts come, and are not wanted any more, but none takes the place of another one") {
  JobMetadata job = begun();
  REQUIRE(job.apply(TermRaised{1}).ok());
  const HostOfJob first{"h1", "10.0.0.1"}, second{"h2", "10.0.0.2"};
  CHECK(job.apply(HostsChanged{{{first, second}, {0, 1, 1}}}).ok());
  const HostOfJob left{"h1", "10.0.0.1", false};
  CHECK(job.apply(HostsChanged{{{left, second, {"h3", "10.0.0.3"}}, {2, 1}}}).ok());
  CHECK_FALSE(job.apply(HostsChanged{{{left, second}, {1, 1}}}).ok());
  CHECK_FALSE(job.apply(HostsChanged{{{second, left, {"h3", "10.0.0.3"}}, {1, 1}}}).ok());
  CHECK_FALSE(job.apply(HostsChanged{{job.hosts.hosts, {3}}}).ok());
  const auto read = JobMetadata::decode(job.encode());
  REQUIRE(read);
  CHECK(read->hosts == job.hosts);
  CHECK(read->hosts.hosts.size() == 3);
  CHECK_FALSE(read->hosts.hosts[0].wanted);
}

}  // namespace piracema::cluster
