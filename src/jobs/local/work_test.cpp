#include "jobs/local/work.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <random>

using namespace piracema;
using namespace piracema::jobs;

namespace {

Work some_work() {
  return {
      .result = 5,
      .input = -1,
      .until = Time(77),
      .niceness = 3,
      .account =
          cluster::Account{
              .name = "", .home = "", .shell = "", .uid = 1'000, .gid = 100, .groups = {100, 27}},
      .directory = "/there",
      .command = {"sh", "-c", "echo"},
      .environment = {}};
}

/// The supervisor has another process's descriptors.
std::vector<std::string> words_with(const Work& work, const std::vector<std::string>& environment) {
  auto file = in_memory(environment);
  REQUIRE(file.ok());
  Fd other(::dup(file->get()));
  std::vector<std::string> words = words_of(work, other);
  other.release();
  return words;
}

}  // namespace

TEST_CASE("a supervisor hears all that it is told, and the environment is in no word of it") {
  const auto words = words_with(some_work(), {"SECRET=s", "EMPTY=", "LINES=a\nb"});
  for (const std::string& word : words) CHECK(word.find("SECRET") == std::string::npos);
  const auto work = work_of(words);
  REQUIRE(work.has_value());
  CHECK(work->result == 5);
  CHECK(work->input == -1);
  CHECK(work->until == Time(77));
  CHECK(work->niceness == 3);
  REQUIRE(work->account.has_value());
  CHECK(work->account->uid == 1'000);
  CHECK(work->account->gid == 100);
  CHECK(work->account->groups == std::vector<gid_t>{100, 27});
  CHECK(work->directory == "/there");
  CHECK(work->command == std::vector<std::string>{"sh", "-c", "echo"});
  CHECK(work->environment == std::vector<std::string>{"SECRET=s", "EMPTY=", "LINES=a\nb"});
}

TEST_CASE("a job without an account of its own is told so") {
  Work work = some_work();
  work.account.reset();
  const auto heard = work_of(words_with(work, {}));
  REQUIRE(heard.has_value());
  CHECK_FALSE(heard->account.has_value());
}

TEST_CASE("whoever cannot tell as whom a job is to run runs none") {
  for (const char* account : {"", "root", "1000", "1000:", ":100:", "1000:x:", "1000:100:x",
                              "-1:100:", "99999999999:100:", "1000:100:27,"}) {
    CAPTURE(account);
    auto words = words_with(some_work(), {});
    words[5] = account;
    const auto work = work_of(words);
    CHECK((!work || work->account->uid == 1'000));
    if (std::string(account) != "1000:100:27,") CHECK_FALSE(work.has_value());
  }
  CHECK_FALSE(work_of({"1", "2", "3", "4", "5", "-", "/there"}).has_value());
}
