#include "cluster/driver/job_record.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "base/testing.h"
#include "host/coordinator_file.h"

using namespace piracema;
using namespace piracema::cluster;
using std::chrono::milliseconds;

namespace {

const std::string record_token(32, 'b');

struct RecordedJob {
  RecordedJob() {
    JobSettings settings;
    settings.slots = 2;
    settings.snapshots = true;
    metadata = JobMetadata(settings);
  }
  std::string path() const { return scratch.path() + "/coordinator/job"; }
  JobRecord begin() {
    auto record = JobRecord::begin(scratch.path(), record_token, milliseconds(1'500), metadata);
    REQUIRE(record.ok());
    return *std::move(record);
  }
  /// Decided, and written down.
  void decide(JobRecord& record, const std::vector<Decision>& decisions) {
    for (const Decision& decision : decisions) REQUIRE(metadata.apply(decision).ok());
    REQUIRE(record.add(decisions, metadata).ok());
  }
  std::string bytes() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes;
  }
  JobRecord::Found found() const {
    auto found = JobRecord::find(scratch.path());
    REQUIRE(found.ok());
    REQUIRE(found->has_value());
    return **std::move(found);
  }

  testing::ScratchDirectory scratch;
  JobMetadata metadata;
};

bool same(const JobMetadata& a, const JobMetadata& b) {
  const Buffer one = a.encode(), other = b.encode();
  return std::ranges::equal(Bytes(one), Bytes(other));
}

}  // namespace

TEST_CASE("another coordinator finds what the one before has decided") {
  RecordedJob job;
  CHECK_FALSE(JobRecord::find(job.scratch.path())->has_value());
  JobRecord record = job.begin();
  job.decide(record, {TermRaised{1}});
  job.decide(record, {StopAccepted{}, ProcessReplaced{1, 0, false}});
  const auto found = job.found();
  CHECK(found.token == record_token);
  CHECK(found.keep == milliseconds(1'500));
  REQUIRE(found.metadata);
  CHECK(same(*found.metadata, job.metadata));
  CHECK(found.metadata->incarnations[1] == 1);

  REQUIRE(JobRecord::remove(job.scratch.path()).ok());
  CHECK_FALSE(JobRecord::find(job.scratch.path())->has_value());
  CHECK(JobRecord::remove(job.scratch.path()).ok());
}

TEST_CASE("nobody else may read the key of the job") {
  RecordedJob job;
  const JobRecord record = job.begin();
  struct stat status {};
  REQUIRE(::stat((job.scratch.path() + "/coordinator").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("a decision that was not written whole does not count, wherever it was cut off") {
  RecordedJob job;
  JobRecord record = job.begin();
  job.decide(record, {TermRaised{1}});
  const JobMetadata before = job.metadata;
  const std::size_t whole = job.bytes().size();
  job.decide(record, {StopAccepted{}});
  const std::string all = job.bytes();
  for (std::size_t end = whole; end < all.size(); ++end) {
    job.write(all.substr(0, end));
    CHECK(same(*job.found().metadata, before));
    // A machine that lost its power may have given the file its length and not its bytes.
    job.write(all.substr(0, end) + std::string(all.size() - end, '\0'));
    const auto zeros = JobRecord::find(job.scratch.path());
    REQUIRE(zeros.ok());
    const bool was_zero = all.find_first_not_of('\0', end) == std::string::npos;
    CHECK(same(*(*zeros)->metadata, was_zero ? job.metadata : before));
  }
}

TEST_CASE("what was written and is damaged is refused, not passed over") {
  RecordedJob job;
  JobRecord record = job.begin();
  job.decide(record, {TermRaised{1}});
  job.decide(record, {StopAccepted{}});
  const std::string all = job.bytes();
  std::mt19937 random(1);
  int refused = 0;
  for (std::size_t at = 0; at + 40 < all.size(); ++at) {
    std::string damaged = all;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    job.write(damaged);
    const auto found = JobRecord::find(job.scratch.path());
    refused += found.ok() ? 0 : 1;
    // A length that is damaged hides what follows it; nothing else may.
    if (found.ok()) CHECK_FALSE(same(*(*found)->metadata, job.metadata));
  }
  CHECK(refused > static_cast<int>(all.size()) / 2);
  for (const std::string& other : {std::string(), std::string("x"), std::string(5'000, 'x')}) {
    job.write(other);
    CHECK(JobRecord::find(job.scratch.path()).error().code == Errc::corrupt);
  }
  std::string newer = all;
  newer[4] = 9;
  job.write(newer);
  CHECK(JobRecord::find(job.scratch.path()).error().code == Errc::refused);
}

TEST_CASE("a job whose decisions could not be written is not for others to take over") {
  RecordedJob job;
  JobRecord record = job.begin();
  job.decide(record, {TermRaised{1}});
  ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const struct rlimit full { job.bytes().size(), before.rlim_max };
  ::setrlimit(RLIMIT_FSIZE, &full);
  const auto added = record.add({StopAccepted{}}, job.metadata);
  CHECK_FALSE(added.ok());
  record.give_up();
  ::setrlimit(RLIMIT_FSIZE, &before);
  const auto found = job.found();
  CHECK_FALSE(found.metadata);
  CHECK(found.keep == milliseconds(1'500));
}

TEST_CASE("a record that has grown is written anew and says the same") {
  RecordedJob job;
  JobRecord record = job.begin();
  job.decide(record, {TermRaised{1}});
  std::uintmax_t largest = 0;
  // Long enough to reach the bound.
  for (std::uint32_t i = 0; i < 250; ++i) {
    std::vector<Decision> many;
    for (std::uint32_t j = 0; j < 1'000; ++j)
      many.push_back(ProcessReplaced{1, i * 1'000 + j, false});
    job.decide(record, many);
    largest = std::max(largest, std::filesystem::file_size(job.path()));
  }
  CHECK(largest > std::size_t{1} << 20);
  CHECK(std::filesystem::file_size(job.path()) < largest);
  CHECK(same(*job.found().metadata, job.metadata));
}

TEST_CASE("no worker is left once they all must have given up waiting") {
  const RecordedJob job;
  JobRecord::Found found;
  found.keep = milliseconds(10'000);
  found.seen = std::chrono::system_clock::now();
  CHECK_FALSE(found.is_over(found.seen + std::chrono::seconds(11)));
  CHECK(found.is_over(found.seen + std::chrono::seconds(16)));
}

TEST_CASE("where a coordinator is can be read by who has lost it, and nothing else is believed") {
  const testing::ScratchDirectory scratch;
  const std::string file = coordinator_file(scratch.path());
  const std::vector<std::string> before = {"10.0.0.9:1"};
  const auto found = [&] { return find_coordinators(file, record_token, before); };
  CHECK(found() == before);
  REQUIRE(write_coordinator_file(file, record_token, {"127.0.0.1:4711", "10.0.0.1:4712"}).ok());
  CHECK(found() == std::vector<std::string>{"127.0.0.1:4711", "10.0.0.1:4712"});
  std::ifstream in(file);
  std::string first;
  std::getline(in, first);
  CHECK(first.find(record_token) == std::string::npos);
  std::ofstream(file) << first << "\nnonsense\n127.0.0.1:4711\n\n:::\n";
  CHECK(found() == std::vector<std::string>{"127.0.0.1:4711"});
  for (const auto& other : {std::string(100'000, '1'), std::string("\n127.0.0.1:4711\n"), first}) {
    std::ofstream(file) << other;
    CHECK(found() == before);
  }
}

TEST_CASE("who looks for the coordinator of a job that is over need not wait") {
  const testing::ScratchDirectory scratch;
  const std::string file = coordinator_file(scratch.path());
  const auto found = [&] { return find_coordinators(file, record_token, {"10.0.0.9:1"}); };
  REQUIRE(write_coordinator_file(file, std::string(32, 'c'), {"127.0.0.1:4711"}).ok());
  CHECK(found().empty());
  REQUIRE(write_coordinator_file(file, record_token, {"127.0.0.1:4711"}).ok());
  CHECK(found().size() == 1);
  CHECK_FALSE(code_in_coordinator_file(file));
  REQUIRE(close_coordinator_file(file, 75).ok());
  CHECK(found().empty());
  CHECK(code_in_coordinator_file(file) == 75);
}
