#include "ckpt/queue/queue_directory.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/testing.h"

namespace piracema::ckpt {

namespace {

QueuedJob some_job(const std::string& name) {
  return {.command = {"echo", name, "two words\n%"},
          .environment = {"A=1", "B=\xff"},
          .working_directory = "/var/tmp",
          .directory = "/var/tmp/" + name,
          .compress = name == "b"};
}

}  // namespace

TEST_CASE("jobs are listed in the order of their submission, and come back as they were") {
  const testing::ScratchDirectory scratch;
  const auto queue = QueueDirectory::open(scratch.path() + "/q");
  REQUIRE(queue.ok());
  CHECK(queue->names()->empty());
  const auto a = queue->submit(some_job("a")), b = queue->submit(some_job("b"));
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK(*queue->names() == std::vector<std::string>{*a, *b});
  auto read = queue->read(*b);
  REQUIRE(read.ok());
  CHECK(read->command == some_job("b").command);
  CHECK(read->environment == some_job("b").environment);
  CHECK_FALSE(read->ended);
  CHECK(read->compress);
  CHECK_FALSE(queue->read(*a)->compress);
  read->ended = 7;
  REQUIRE(queue->write(*b, *read));
  CHECK(queue->read(*b)->ended == 7);
  REQUIRE(queue->remove(*a));
  REQUIRE(queue->remove(*a));
  CHECK(queue->read(*a).error().code == Errc::not_found);
  CHECK(*queue->submit(some_job("c")) > *b);
}

TEST_CASE("many who submit at the same time get names of their own") {
  const testing::ScratchDirectory scratch;
  const std::string path = scratch.path() + "/q";
  REQUIRE(QueueDirectory::open(path));
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) {
      const auto queue = QueueDirectory::open(path);
      for (int k = 0; k < 5; ++k) {
        if (!queue || !queue->submit(some_job("x"))) ::_exit(1);
      }
      ::_exit(0);
    }
  }
  for (const pid_t child : children) {
    int status = 1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(QueueDirectory::open(path)->names()->size() == 40);
}

TEST_CASE("what is no queue is not made one, and what is no job is told") {
  const testing::ScratchDirectory scratch;
  std::ofstream(scratch.path() + "/something") << "else";
  const auto refused = QueueDirectory::open(scratch.path());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Errc::config);
  const auto queue = QueueDirectory::open(scratch.path() + "/q");
  for (const char* text : {"", "{}", "[[[[[[[["}) {
    std::ofstream(queue->path() + "/00000003.json") << text;
    CHECK(queue->read("00000003").error().code == Errc::corrupt);
  }
  CHECK(queue->read("../x").error().code == Errc::not_found);
}

TEST_CASE("a queue that is looked for is not made") {
  const testing::ScratchDirectory scratch;
  const auto none = QueueDirectory::find(scratch.path() + "/q");
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == Errc::config);
  CHECK(none.error().message == scratch.path() + "/q: want a queue, found nothing");
  CHECK_FALSE(std::filesystem::exists(scratch.path() + "/q"));
  CHECK(QueueDirectory::find(scratch.path()).error().message ==
        scratch.path() + ": want a queue, found something else");

  REQUIRE(QueueDirectory::open(scratch.path() + "/q"));
  CHECK(QueueDirectory::find(scratch.path() + "/q").ok());
}

TEST_CASE("a host has one daemon") {
  const testing::ScratchDirectory scratch;
  const auto queue = QueueDirectory::open(scratch.path() + "/q");
  const auto first = queue->lock_for("a");
  CHECK(first.ok());
  CHECK(queue->lock_for("a").error().code == Errc::refused);
  CHECK(queue->lock_for("b").ok());
}

}  // namespace piracema::ckpt
