#include "jobs/local/job_environment.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace piracema;
using namespace piracema::jobs;

namespace {

const JobFiles files_of_node("/n");
const JobEnvironment on_a({.name = "a", .rsh = "/p cluster rsh"}, files_of_node);

/// The value that counts; "-": there is none.
std::string value_of(const std::vector<std::string>& environment, const std::string& name) {
  std::string found = "-";
  for (const std::string& variable : environment) {
    if (variable.starts_with(name + "=")) found = variable.substr(name.size() + 1);
  }
  return found;
}

JobRunner::Launch launch_of(std::uint32_t part, std::vector<HostOfOrder> hosts) {
  JobRunner::Launch launch;
  launch.attempt = {7, 2, part};
  launch.hosts = std::move(hosts);
  launch.spec = {.name = "j", .command = {"x"}, .environment = {"A=1", "PIRACEMA_RSH=mine"}};
  launch.spec.slots = 3;
  return launch;
}

}  // namespace

TEST_CASE("a command knows its job, and on several nodes all of them and the way there") {
  const auto alone = on_a.of(launch_of(0, {}), std::nullopt, "");
  CHECK(value_of(alone, "PIRACEMA_JOB") == "7");
  CHECK(value_of(alone, "PIRACEMA_ATTEMPT") == "2");
  CHECK(value_of(alone, "PIRACEMA_NODE") == "a");
  CHECK(value_of(alone, "PIRACEMA_HTTP_FILE") != "-");
  CHECK(value_of(alone, "PIRACEMA_HOSTS") == "-");
  // Its user's, as the node has nothing to say of it.
  CHECK(value_of(alone, "PIRACEMA_RSH") == "mine");
  const auto first =
      on_a.of(launch_of(0, {{"a", "1.1.1.1"}, {"b", "2.2.2.2"}}), std::nullopt, "/n/hosts");
  CHECK(value_of(first, "PIRACEMA_HOSTS") == "a=1.1.1.1,b=2.2.2.2");
  CHECK(value_of(first, "PIRACEMA_WORKERS") == "6");
  CHECK(value_of(first, "PIRACEMA_HOSTFILE") == "/n/hosts");
  CHECK(value_of(first, "PIRACEMA_RSH") == "/p cluster rsh");
  CHECK(value_of(first, "A") == "1");
  CHECK(value_of(first, "PIRACEMA_JOIN") == "-");
}

TEST_CASE("a part has the way to other nodes, and is no command") {
  const auto part = on_a.of(launch_of(5, {}), std::nullopt, "");
  CHECK(value_of(part, "PIRACEMA_RSH") == "/p cluster rsh");
  CHECK(value_of(part, "PIRACEMA_HOSTS") == "-");
  CHECK(value_of(part, "PIRACEMA_HTTP_FILE") == "-");
}

TEST_CASE("what runs as an account has a login's environment, and what its user said over it") {
  cluster::Account account;
  account.name = "alice";
  account.home = "/home/alice";
  account.shell = "/bin/sh";
  auto launch = launch_of(0, {});
  launch.spec.environment = {"HOME=/elsewhere"};
  const auto environment = on_a.of(launch, account, "");
  CHECK(value_of(environment, "USER") == "alice");
  CHECK(value_of(environment, "HOME") == "/elsewhere");
  CHECK(std::ranges::count_if(environment,
                              [](const auto& one) { return one.starts_with("HOME="); }) == 1);
}
