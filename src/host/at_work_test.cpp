#include "host/at_work.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using piracema::Fd;
using piracema::ReplicaId;
using piracema::cluster::AtWork;

using Busy = std::vector<std::pair<ReplicaId, std::uint64_t>>;

TEST_CASE("what a process was at work on can be read after its death") {
  auto mine = AtWork::create();
  REQUIRE(mine.ok());
  CHECK(mine->busy().empty());

  const pid_t child = ::fork();
  if (child == 0) {
    auto its = AtWork::open(Fd(::dup(mine->fd())));
    (*its)[0].store(0);
    (*its)[7].store(4'711);
    (*its)[8].store(3);
    (*its)[8].store(AtWork::none);
    ::raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));

  CHECK(mine->busy() == Busy{{0, 0}, {7, 4'711}});
}

TEST_CASE("replicas of one process do not share a cache line, and each has a word of its own") {
  auto mine = AtWork::create();
  REQUIRE(mine.ok());
  const auto at = [&](ReplicaId replica) {
    return reinterpret_cast<std::uintptr_t>(&(*mine)[replica]);
  };
  CHECK(at(0) / 64 != at(1) / 64);
  CHECK(at(1) / 64 != at(2) / 64);
  for (ReplicaId replica = 0; replica < AtWork::replicas_max; ++replica) {
    (*mine)[replica].store(replica);
  }
  const Busy busy = mine->busy();
  REQUIRE(busy.size() == AtWork::replicas_max);
  for (const auto& [replica, item] : busy) CHECK(item == replica);
}

TEST_CASE("a worker cannot take the memory away from its coordinator") {
  auto mine = AtWork::create();
  REQUIRE(mine.ok());

  CHECK(::ftruncate(mine->fd(), 0) == -1);
  CHECK(mine->busy().empty());
}

TEST_CASE("a descriptor of something else is refused") {
  CHECK_FALSE(AtWork::open(Fd(-1)).ok());

  auto opened = AtWork::open(Fd(::open("/dev/null", O_RDWR)));
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().message.find("want 80000 bytes, found 0") != std::string::npos);
}
