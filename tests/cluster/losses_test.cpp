// Losses at awkward times: before anybody has joined, without the snapshots to go back to, and by
// items that bring their process down without a signal.
#include <doctest/doctest.h>
#include <signal.h>

#include <filesystem>

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

std::string at_start(int signal) { return "die-at-start=" + std::to_string(signal); }

}  // namespace

TEST_CASE("a process that a signal ends or stops before anybody has joined is replaced") {
  for (const int signal : {SIGKILL, SIGSEGV, SIGSTOP}) {
    CAPTURE(signal);
    const Stream stream;
    Job job(stream.run({"items=1000", at_start(signal)}));
    CHECK(job.wait() == 0);
    CHECK(stream.is_right(1'000));
    CHECK(job.events("lost").size() == 4);
    CHECK(job.summary()["processes_started"] == 8);
  }
}

TEST_CASE("without snapshots a process that a signal ends before it has joined is a loss") {
  const Stream stream;
  Job job(piracema_run({"-n", "4"}, stream.program({"items=1000", at_start(SIGKILL)})));
  CHECK(job.wait() == 4);
  const std::string why = job.summary()["why"];
  CHECK(is_in("worker 0 was lost", why));
  CHECK(is_in("SIGKILL", why));
}

TEST_CASE("a program that raises a signal at each start is given up") {
  const Stream stream;
  Job job(stream.run({"items=1000", at_start(SIGSEGV), "always"}));
  CHECK(job.wait() == 4);
  CHECK(is_in("could not be started 3 times in a row", job.summary()["why"]));
}

TEST_CASE("a loss ends the job when its directory of snapshots was moved, removed or emptied") {
  for (const std::string what : {"moved", "removed", "emptied"}) {
    CAPTURE(what);
    const Stream stream;
    Job job(stream.run(stream.endless()));
    job.wait_for("snapshot");
    const std::string elsewhere = stream.path("elsewhere");
    // The store may be at work in it meanwhile, so that it is renamed and then removed.
    std::filesystem::rename(stream.snapshots, elsewhere);
    if (what == "emptied") std::filesystem::create_directory(stream.snapshots);
    if (what != "moved") std::filesystem::remove_all(elsewhere);
    ::kill(job.worker(2).pid, SIGKILL);
    stream.let_end();
    const int code = job.wait();
    // On a busy machine a whole snapshot may have been taken into an emptied one before the loss.
    if (what == "emptied" && code == 0) {
      CHECK(stream.is_right());
      continue;
    }
    CHECK(code == 4);
    const std::string why = job.summary()["why"];
    CAPTURE(why);
    CHECK(is_in("worker 2 was lost", why));
    // An emptied one is a snapshot directory again if the next snapshot has begun in it.
    const bool next_began = what == "emptied" && is_in("/manifest.json: no such file", why);
    CHECK((next_began || is_in(stream.snapshots + ": want a snapshot directory, found", why)));
    CHECK(is_in(stream.snapshots, why));
    CHECK(job.processes().empty());
  }
}

TEST_CASE("a loss after the output is complete, and before any snapshot is, begins it again") {
  const Stream stream;
  Job job(piracema_run({"-n", "4", "--snapshots", stream.snapshots, "--every", "1h"},
                       stream.program(stream.endless())));
  job.wait_for("first_item_out");
  // Workers go on without it, to the end of the stream; it hears of that together with the loss.
  job.signal(SIGSTOP);
  stream.let_end();
  job.go_on_until([&] { return exists(stream.out); });
  std::filesystem::remove(stream.enough);
  ::kill(job.worker(1).pid, SIGKILL);
  job.signal(SIGCONT);
  job.wait_for("first_item_out");
  stream.let_end();
  CHECK(job.wait() == 0);
  CHECK(job.summary()["recoveries"].size() == 1);
  CHECK(stream.is_right());
}

TEST_CASE("a stop does not claim a snapshot that was removed") {
  const Stream stream;
  Job job(stream.run(stream.endless()));
  job.wait_for("snapshot");
  std::filesystem::rename(stream.snapshots, stream.path("elsewhere"));
  job.wait_for("snapshot_failed");
  job.signal(SIGTERM);
  CHECK(job.wait() == 1);
  const std::string why = job.summary()["why"];
  CAPTURE(why);
  CHECK(is_in("stopped, but the last snapshot failed: ", why));
  CHECK(is_in(stream.snapshots, why));
}

TEST_CASE("an item that freezes its process, or closes its connections, ends the job") {
  for (const std::string fault : {"freeze", "hang-up"}) {
    CAPTURE(fault);
    const Stream stream;
    Job job(stream.run(job_with(fault)));
    CHECK(job.wait() == 1);
    const std::string why = job.summary()["why"];
    CAPTURE(why);
    CHECK(is_in("check/", why));
    CHECK(is_in("failed 3 times at or near item", why));
    CHECK(is_in(fault == "freeze" ? "no heartbeat" : "its connection ended", why));
    // More where a machine is busy: a loss that is noticed when the replica is between two items
    // names none, and does not count.
    CHECK(job.summary()["recoveries"].size() >= 2);
  }
}

TEST_CASE("an item that freezes its process goes to the dead letters, all others to the output") {
  const Stream stream;
  const std::string letters = stream.path("letters");
  Job job(stream.run(job_with("freeze"), {"--dead-letters", letters}));
  CHECK(job.wait() == 0);
  CHECK(contents(stream.out) == without_line(stream.expected(3'000), 2'000));
  REQUIRE(job.events("item_skipped").size() == 1);
  CHECK(job.events("item_skipped").front()["item"] == item);
  CHECK(lines_of(contents(letters)).size() == 1);
}

TEST_CASE("an operator that does not return from an item is told of, and stuck after a while") {
  const Stream stream;
  const std::string letters = stream.path("letters");
  Job job(stream.run(job_with("stick"), {"--dead-letters", letters, "--stuck-after", "12s"}));
  const Event busy = job.wait_for("busy");
  CHECK(is_in("check/", busy["replica"]));
  CHECK(busy["item"] == item);
  CHECK(job.wait() == 0);
  CHECK(contents(stream.out) == without_line(stream.expected(3'000), 2'000));
  REQUIRE(job.events("item_skipped").size() == 1);
  CHECK(job.events("item_skipped").front()["item"] == item);
  REQUIRE(job.events("lost").size() == 3);
  CHECK(is_in("was busy for 12000 ms with item 1999", job.events("lost").front()["how"]));
}
