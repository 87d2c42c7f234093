#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/testing.h"
#include "cluster/driver/record_log.h"
#include "cluster/driver/succession.h"
#include "council/group_log.h"
#include "council/testing.h"
#include "host/coordinator_file.h"

using namespace piracema;
using namespace piracema::cluster;
using piracema::council::testing::job_of_two;
using std::chrono::milliseconds;

namespace {

const std::string token(32, 'd');

/// A group that answers at once, or loses what it is asked or its answer.
class Group final : public smr::Invoker {
 public:
  void invoke_ordered(Bytes operation, Callback done) override {
    if (loses_operation) return done(Error{Errc::timeout, "nobody answers"});
    const Buffer answer = state.apply(operation, {});
    if (loses_answer) return done(Error{Errc::timeout, "nobody answers"});
    done(answer);
  }
  void invoke_unordered(Bytes operation, Callback done) override { done(state.query(operation)); }

  council::GroupState state{{}};
  bool loses_operation = false, loses_answer = false;
};

/// One of the two logs, and what a successor finds in it.
struct Kind {
  std::string name;
  std::function<std::unique_ptr<DecisionLog>()> next;
  std::function<std::optional<JobMetadata>()> found;
};

struct Both {
  const testing::ScratchDirectory scratch;
  Group group;
  council::GroupLine line{group};
  council::Lead lead;

  /// As a coordinator that takes the job over.
  council::Answer claim() {
    lead.term += 1;
    const auto answer = line.ask(council::Claim{lead, 1, 2, 3});
    REQUIRE(answer.ok());
    return *answer;
  }
  std::vector<Kind> kinds() {
    return {
        {"file",
         [this] { return std::make_unique<RecordLog>(scratch.path(), token, milliseconds(1'500)); },
         [this]() -> std::optional<JobMetadata> {
           const auto found = JobRecord::find(scratch.path());
           REQUIRE(found.ok());
           if (!*found) return std::nullopt;
           return (*found)->metadata;
         }},
        {"group",
         [this] {
           REQUIRE(claim().verdict == council::Verdict::done);
           return std::make_unique<council::GroupLog>(
               line, lead, [] { return std::vector<std::string>{}; }, scratch.path(), token,
               milliseconds(1'500));
         },
         [this]() -> std::optional<JobMetadata> {
           const auto answer = claim();
           if (!answer.left) return std::nullopt;
           return *JobMetadata::decode(answer.left->metadata);
         }}};
  }
};

bool same(const JobMetadata& a, const JobMetadata& b) {
  const Buffer left = a.encode(), right = b.encode();
  return as_text(left) == as_text(right);
}

}  // namespace

TEST_CASE("whoever follows finds what was decided, and goes on with it, in either log") {
  for (int which : {0, 1}) {
    Both both;
    const Kind kind = both.kinds()[static_cast<std::size_t>(which)];
    CAPTURE(kind.name);
    CHECK_FALSE(kind.found());
    JobMetadata metadata = job_of_two();
    for (std::uint64_t term = 1; term <= 3; ++term) {
      const auto log = kind.next();
      REQUIRE(log->begin(metadata).ok());
      for (const std::vector<Decision>& step :
           {std::vector<Decision>{TermRaised{term}},
            std::vector<Decision>{ProcessReplaced{0, static_cast<std::uint32_t>(term - 1), false}},
            std::vector<Decision>{}}) {
        for (const Decision& decision : step) REQUIRE(metadata.apply(decision).ok());
        CHECK(log->append(step, metadata) == DecisionLog::Kept::yes);
      }
      const auto found = kind.found();
      REQUIRE(found);
      CHECK(same(*found, metadata));
    }
  }
}

TEST_CASE("who was followed is deposed, whatever it asks for, and changes nothing") {
  Both both;
  const Kind group = both.kinds()[1];
  JobMetadata metadata = job_of_two();
  const auto first = group.next();
  REQUIRE(first->begin(metadata).ok());
  REQUIRE(metadata.apply(TermRaised{1}).ok());
  REQUIRE(first->append({TermRaised{1}}, metadata) == DecisionLog::Kept::yes);
  const auto second = group.next();
  CHECK(first->append({StopAccepted{}}, metadata) == DecisionLog::Kept::deposed);
  CHECK(first->append({}, metadata) == DecisionLog::Kept::deposed);
  CHECK(first->begin(job_of_two()).error().code == Errc::refused);
  CHECK(first->end(4, "no host is left") == DecisionLog::Kept::deposed);
  CHECK_FALSE(both.group.state.standing().over);
  CHECK(second->append({}, metadata) == DecisionLog::Kept::yes);
  CHECK(same(*group.found(), metadata));
}

TEST_CASE("who does not hear whether it was decided acts no more, and its successor finds out") {
  for (const bool decided : {false, true}) {
    CAPTURE(decided);
    Both both;
    const Kind group = both.kinds()[1];
    JobMetadata metadata = job_of_two();
    const auto first = group.next();
    REQUIRE(first->begin(metadata).ok());
    (decided ? both.group.loses_answer : both.group.loses_operation) = true;
    CHECK(first->append({TermRaised{1}}, metadata) == DecisionLog::Kept::deposed);
    both.group.loses_answer = both.group.loses_operation = false;
    CHECK(group.found()->term == (decided ? 1 : 0));
  }
}

TEST_CASE("who was followed closes no door of its successor, and the last one ends the job") {
  Both both;
  const std::string file = coordinator_file(both.scratch.path());
  const auto follow = [&](const std::string& door) {
    REQUIRE(both.claim().verdict == council::Verdict::done);
    auto log = std::make_unique<council::GroupLog>(
        both.line, both.lead, [door] { return std::vector<std::string>{door}; },
        both.scratch.path(), token, milliseconds(1'500));
    auto succession = Succession::begin(std::move(log), both.scratch.path(), token,
                                        milliseconds(1'500), job_of_two());
    REQUIRE(succession.ok());
    REQUIRE(succession->listens({door}).ok());
    return *std::move(succession);
  };
  Succession first = follow("10.0.0.1:1"), second = follow("10.0.0.2:2");
  CHECK_FALSE(first.end(4, "no host is left"));
  CHECK(find_coordinators(file, token, {}) == std::vector<std::string>{"10.0.0.2:2"});
  CHECK(second.end(0, ""));
  CHECK(both.group.state.standing().over->code == 0);
  CHECK(code_in_coordinator_file(file) == 0);
}

TEST_CASE("a job whose coordinators are all lost cannot be taken over from its directory") {
  Both both;
  const auto log = both.kinds()[1].next();
  REQUIRE(log->begin(job_of_two()).ok());
  auto left = JobRecord::find(both.scratch.path());
  REQUIRE(left.ok());
  REQUIRE(left->has_value());
  CHECK_FALSE((*left)->metadata);
  CHECK((*left)->keep == milliseconds(1'500));
  REQUIRE(log->end(0, "") == DecisionLog::Kept::yes);
  CHECK_FALSE(JobRecord::find(both.scratch.path())->has_value());
}
