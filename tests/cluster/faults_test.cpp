// Operators that fail at an item: by an exception, and with their whole process.
#include <doctest/doctest.h>
#include <signal.h>

#include "stream.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

std::vector<std::string> job_with(const std::string& fault) {
  return {"items=3000", "pause_us=100", "fault=" + fault, "at=2000"};
}

/// Item 2000 has the identifier 1999: they count from 0.
constexpr int item = 1'999;

std::string without_line(const std::string& text, int number) {
  std::string rest;
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with(std::to_string(number) + " ")) rest += line + "\n";
  }
  return rest;
}

}  // namespace

TEST_CASE("without snapshots an operator that throws ends the job, named with replica and item") {
  const Stream stream;
  Job job(piracema_run({"-n", "4"}, stream.program(job_with("throw"))));
  CHECK(job.wait() == 1);
  const std::string why = job.summary()["why"];
  CHECK(is_in("check/", why));
  CHECK(is_in("item " + std::to_string(item), why));
  CHECK(is_in("no half measures", why));
  CHECK(is_in("no half measures", job.errors()));
  CHECK(job.processes().empty());
}

TEST_CASE("an operator that throws once is rolled back in place: no process is replaced") {
  const Stream stream;
  Job job(stream.run(job_with("throw-once")));
  CHECK(job.wait() == 0);
  CHECK(stream.is_right(3'000));
  const Event summary = job.summary();
  CHECK(summary["processes_started"] == 4);
  CHECK(summary["recoveries"].size() == 1);
  REQUIRE(job.events("replica_failed").size() == 1);
  const Event failed = job.events("replica_failed").front();
  CHECK(is_in("check/", failed["replica"]));
  CHECK(failed["item"] == item);
  CHECK(failed["why"] == "process: a bad day");
}

TEST_CASE("an item that brings its operator down again and again ends the job after its budget") {
  for (const std::string fault : {"throw", "segv", "abort", "exit"}) {
    CAPTURE(fault);
    const Stream stream;
    Job job(stream.run(job_with(fault)));
    CHECK(job.wait() == 1);
    const Event summary = job.summary();
    const std::string why = summary["why"];
    CAPTURE(why);
    CHECK(is_in("check/", why));
    CHECK(is_in("failed 3 times", why));
    CHECK(is_in("item " + std::to_string(item), why));
    if (fault == "segv") CHECK(is_in("SIGSEGV", why));
    if (fault == "abort") CHECK(is_in("SIGABRT", why));
    const std::string recoveries = summary["recoveries"].dump();
    CAPTURE(recoveries);
    CHECK(summary["recoveries"].size() == 2);
    CHECK(job.processes().empty());
    CHECK_FALSE(exists(stream.out));
  }
}

TEST_CASE("with a file for dead letters the item goes there, and all others to the output") {
  for (const std::string fault : {"throw", "segv", "abort"}) {
    CAPTURE(fault);
    const Stream stream;
    const std::string letters = stream.path("letters");
    Job job(stream.run(job_with(fault), {"--dead-letters", letters}));
    CHECK(job.wait() == 0);
    CHECK(contents(stream.out) == without_line(stream.expected(3'000), 2'000));
    REQUIRE(job.events("item_skipped").size() == 1);
    CHECK(job.events("item_skipped").front()["item"] == item);

    const auto lines = lines_of(contents(letters));
    REQUIRE(lines.size() == 1);
    const Event letter = Event::parse(lines.front());
    CHECK(letter["node"] == "check");
    CHECK(letter["item"] == item);
    CHECK(letter["bytes"].get<std::string>().starts_with("32303030"));  // "2000"
  }
}

TEST_CASE("an operator that stands still keeps its process only until the others roll back") {
  const Stream stream;
  Job job(stream.run({"items=3000", "pause_us=100", "fault=stick-once", "at=2000"}));
  // It beats while its operator does not return: only a recovery finds that out.
  const std::string fault = stream.out + ".fault";
  job.go_on_until([&] { return exists(fault) && !contents(fault).empty(); });
  const int stuck = std::stoi(contents(fault));
  ::kill(job.worker((stuck + 1) % 4).pid, SIGKILL);
  const Event lost = job.wait_for("lost", [](const Event& event) {
    return event["how"] == "an operator did not return within 1000 ms to load its state";
  });
  CHECK(lost["worker"] == stuck);
  CHECK(is_in("check/", lost["replicas"]));
  CHECK(job.wait() == 0);
  CHECK(stream.is_right(3'000));
}

TEST_CASE("a survivor that takes three seconds to load its state is waited for, as it gets on") {
  const Stream stream;
  auto options = stream.endless();
  options.push_back("slow=30");
  Job job(stream.run(options));
  job.wait_for("snapshot");
  ::kill(job.worker(3).pid, SIGKILL);
  job.wait_for("running", [](const Event& event) { return event["epoch"] == 2; });
  stream.let_end();
  CHECK(job.wait() == 0);
  CHECK(stream.is_right());
  CHECK(job.events("lost").size() == 1);
  CHECK(job.summary()["processes_started"] == 5);
}
