#include "tools/doctor/checks.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace piracema;
using namespace piracema::tools;

namespace {

Machine good_machine() {
  Machine machine;
  machine.root = true;
  machine.cores = 4;
  machine.shm_free = 1'000'000'000;
  machine.files = 1'024;
  machine.files_most = 1'048'576;
  machine.clock_follows = true;
  machine.congestion = "bbr";
  machine.congestion_choices = "reno cubic bbr";
  machine.ssh = "/usr/bin/ssh";
  machine.compiler = "g++ (Debian 12.2.0-14) 12.2.0";
  machine.libraries = {{"librocksdb", "--state-directory", "librocksdb-dev", true}};
  return machine;
}

Finding one_of(const Machine& machine, const std::string& what) {
  const auto all = judge(machine);
  const auto found = std::ranges::find(all, what, &Finding::what);
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace

TEST_CASE("a good machine lacks nothing, and there is nothing to mend") {
  const auto all = judge(good_machine());
  for (const Finding& one : all) {
    CAPTURE(one.what);
    CHECK(one.ok);
    CHECK(one.fix.empty());
  }
  CHECK(parts_that_lack(all).empty());
}

TEST_CASE("what is worth knowing has a fix, and is no failure") {
  Machine machine = good_machine();
  machine.root = false;
  machine.shm_free = 67'108'864;
  machine.files = 256;
  machine.clock_follows = false;
  machine.congestion_choices = "cubic";
  machine.ssh = "";
  machine.libraries[0].there = false;
  const auto all = judge(machine);
  CHECK(parts_that_lack(all).empty());
  for (const char* what : {"/dev/shm", "open files", "clock", "congestion", "ssh", "librocksdb"}) {
    CAPTURE(what);
    const Finding one = one_of(machine, what);
    CHECK_FALSE(one.ok);
    CHECK_FALSE(one.fix.empty());
  }
  CHECK(one_of(machine, "user").ok);
  CHECK(one_of(machine, "/dev/shm").text.starts_with("67.1 MB free"));
}

TEST_CASE("what cannot be read is said, and is not taken for good") {
  Machine machine = good_machine();
  machine.shm_free = std::nullopt;
  machine.clock_follows = std::nullopt;
  machine.congestion = machine.congestion_choices = "";
  for (const char* what : {"/dev/shm", "clock", "congestion"})
    CHECK_FALSE(one_of(machine, what).ok);
}

TEST_CASE("a compiler is needed, and one that knows C++20") {
  Machine machine = good_machine();
  for (const char* good :
       {"g++ (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0", "Debian clang version 14.0.6",
        "c++ (GCC) 13.2.1 20231011 (Red Hat 13.2.1-4)"}) {
    CAPTURE(good);
    machine.compiler = good;
    CHECK(one_of(machine, "compiler").ok);
  }
  for (const char* bad : {"", "g++ (Debian 10.2.1-6) 10.2.1 20210110", "no version"}) {
    CAPTURE(bad);
    machine.compiler = bad;
    CHECK(one_of(machine, "compiler").fix == "sudo apt install g++");
    CHECK(parts_that_lack(judge(machine)) == std::vector<std::string>{"streams"});
  }
}

TEST_CASE("what a product says is read, with a known fix where it says none") {
  const auto findings = read_findings(
      "ckpt", R"([{"what":"privilege","ok":false,"needed":true,"text":"want root"},)"
              R"({"what":"criu","ok":false,"needed":true,"text":"none","fix":"get one"},)"
              R"({"what":"tar","ok":true,"needed":true,"text":"GNU tar"}])");
  REQUIRE(findings.ok());
  REQUIRE(findings->size() == 3);
  CHECK((*findings)[0].fix == "sudo piracema doctor");
  CHECK((*findings)[1].fix == "get one");
  CHECK((*findings)[2].fix.empty());
  CHECK(parts_that_lack(*findings) == std::vector<std::string>{"ckpt"});
}

TEST_CASE("what a product says otherwise is refused") {
  for (const char* wrong :
       {"", "{}", "[1]", "[{}]", R"([{"what":"a","ok":1,"needed":true,"text":"b"}])",
        R"([{"what":"a","ok":true,"needed":true}])", "[{\"what\":"}) {
    CAPTURE(wrong);
    CHECK(read_findings("coll", wrong).error().code == Errc::corrupt);
  }
}
