#include "cluster/driver/succession.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/testing.h"
#include "cluster/driver/record_log.h"
#include "host/coordinator_file.h"

using namespace piracema;
using namespace piracema::cluster;
using std::chrono::milliseconds;

namespace {

const std::string succession_token(32, 'd');

JobMetadata job() {
  JobSettings settings;
  settings.slots = 2;
  settings.snapshots = true;
  return JobMetadata(settings);
}

Result<Succession> begin(const std::string& snapshots, const JobMetadata& metadata) {
  const milliseconds keep(1'500);
  return Succession::begin(std::make_unique<RecordLog>(snapshots, succession_token, keep),
                           snapshots, succession_token, keep, metadata);
}

/// Files of this process cannot grow beyond so many bytes while it lives.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const struct rlimit full { bytes, before_.rlim_max };
    ::setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  struct rlimit before_ {};
};

}  // namespace

TEST_CASE("agents and workers are told where to look for a successor, and for how long") {
  const testing::ScratchDirectory scratch;
  auto succession = begin(scratch.path(), job());
  REQUIRE(succession.ok());
  const std::string file = coordinator_file(scratch.path());
  const auto environment = succession->environment();
  const auto has = [&](const std::string& variable) {
    return std::find(environment.begin(), environment.end(), variable) != environment.end();
  };
  CHECK(has("PIRACEMA_COORDINATOR_WAIT_MS=1500"));
  CHECK(has("PIRACEMA_COORDINATOR_FILE=" + file));
  Setup setup;
  succession->add_to(setup);
  CHECK(setup.keep_ms == 1'500);
  CHECK(setup.coordinator_file == file);

  REQUIRE(succession->listens({"127.0.0.1:4711"}).ok());
  CHECK(find_coordinators(file, succession_token, {}) ==
        std::vector<std::string>{"127.0.0.1:4711"});
  CHECK(succession->end(4, "no host is left"));
  CHECK(code_in_coordinator_file(file) == 4);
  CHECK(find_coordinators(file, succession_token, {"127.0.0.1:4711"}).empty());
  CHECK_FALSE(JobRecord::find(scratch.path())->has_value());
}

TEST_CASE("a disk that takes no decisions ends nobody's job, and nobody takes that over any more") {
  const testing::ScratchDirectory scratch;
  JobMetadata metadata = job();
  auto succession = begin(scratch.path(), metadata);
  REQUIRE(succession.ok());
  const auto decide = [&](const Decision& decision) {
    REQUIRE(metadata.apply(decision).ok());
    CHECK(succession->decided({decision}, metadata));
  };
  decide(TermRaised{1});
  {
    const FullDisk full(16);
    decide(StopAccepted{});
  }
  // There is room again, but one decision is missing.
  decide(ProcessReplaced{0, 0, false});
  auto found = JobRecord::find(scratch.path());
  REQUIRE(found.ok());
  REQUIRE(found->has_value());
  CHECK_FALSE((*found)->metadata);
}

TEST_CASE("a directory that cannot be written to is named before the job begins") {
  const auto refused = begin("/proc/nowhere", job());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Errc::config);
  CHECK(refused.error().message.find("/proc/nowhere/coordinator") != std::string::npos);
}
