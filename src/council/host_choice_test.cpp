#include "council/host_choice.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::council;
using cluster::HostOptions;

namespace {

HostOptions host(int number, bool here = false) {
  return {"h" + std::to_string(number), "10.0.0." + std::to_string(number), here, "--hosts"};
}

std::vector<std::string> names(const HostChoice& choice) {
  std::vector<std::string> all;
  for (const HostOptions& host : choice.elsewhere) all.push_back(host.name);
  return all;
}

}  // namespace

TEST_CASE("the coordinators are on this host and on the first others of the job") {
  const std::vector<HostOptions> hosts{host(1), host(2, true), host(3), host(4), host(5)};
  const auto three = choose_hosts(hosts, 3);
  REQUIRE(three.ok());
  CHECK(three->here == "10.0.0.2");
  CHECK(names(*three) == std::vector<std::string>{"h1", "h3"});
  CHECK(names(*choose_hosts(hosts, 5)) == std::vector<std::string>{"h1", "h3", "h4", "h5"});
}

TEST_CASE("where the job is on this host alone, so are its coordinators") {
  for (const auto& hosts : {std::vector<HostOptions>{}, {host(1, true)}}) {
    const auto choice = choose_hosts(hosts, 3);
    REQUIRE(choice.ok());
    CHECK(choice->here == "127.0.0.1");
    CHECK(choice->elsewhere.empty());
  }
}

TEST_CASE("fewer machines than coordinators are refused, whatever their names") {
  const auto few = choose_hosts({host(1, true), host(2)}, 3);
  REQUIRE_FALSE(few.ok());
  CHECK(few.error().code == Errc::config);
  CHECK(few.error().message ==
        "--coordinators 3: want as many machines, this one and 2 others of the job, found 2: "
        "10.0.0.1, h2");
  HostOptions again = host(2);
  again.name = "h2.lan";
  CHECK_FALSE(choose_hosts({host(1, true), host(2), again}, 3).ok());
  CHECK(choose_hosts({host(1, true), host(2), again, host(3)}, 3).ok());
}

TEST_CASE("a name that is another machine on each host is refused") {
  HostOptions local = host(1, true);
  local.name = "localhost";
  const auto refused = choose_hosts({local, host(2), host(3)}, 3);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.starts_with("--hosts: 'localhost' is another machine on each"));
}

TEST_CASE("another coordinator goes to a machine that has none, and to that of the lost one last") {
  const std::vector<HostOptions> hosts{host(1), host(2, true), host(3), host(4), host(4)};
  const auto names_for = [&](std::vector<std::string> taken, const std::string& lost) {
    std::vector<std::string> all;
    for (const HostOptions& one : hosts_for_another(hosts, std::move(taken), lost)) {
      all.push_back(one.name);
    }
    return all;
  };
  CHECK(names_for({"10.0.0.2", "10.0.0.3"}, "10.0.0.1") == std::vector<std::string>{"h4", "h1"});
  CHECK(names_for({"10.0.0.2", "10.0.0.3", "10.0.0.4"}, "10.0.0.9") ==
        std::vector<std::string>{"h1"});
  CHECK(names_for({"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"}, "").empty());
  CHECK(hosts_for_another({host(1, true)}, {}, "").empty());
}
