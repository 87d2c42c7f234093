#include "jobs/local/job_account.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::jobs;

namespace {

constexpr uid_t root = 0;

std::string why_not(const Owner& owner, uid_t own) {
  const auto account = account_of(owner, own);
  return account ? "it may" : account.error().message;
}

}  // namespace

TEST_CASE("a job whose user has no account runs as its node, unless that is root") {
  CHECK(account_of({"alice", ""}, 1'000)->has_value() == false);
  CHECK(why_not({"alice", ""}, root) ==
        "want an account for the jobs of the user alice on a node that runs as root, found none: "
        "piracema cluster change-user alice --account NAME");
}

TEST_CASE("jobs of whoever has made the cluster run as the nodes do, also as root") {
  CHECK(account_of({first_user, ""}, root)->has_value() == false);
  CHECK(account_of({first_user, ""}, 1'000)->has_value() == false);
}

TEST_CASE("only a node that runs as root runs jobs as another account") {
  const auto account = account_of({"alice", "daemon"}, root);
  REQUIRE(account.ok());
  REQUIRE(account->has_value());
  CHECK((*account)->name == "daemon");
  CHECK((*account)->uid == 1);
  CHECK((*account)->groups.size() >= 1);
  CHECK(why_not({"alice", "daemon"}, 4'242'424) ==
        "want a node that runs as daemon or as root for the jobs of the user alice, found one that "
        "runs as 4242424");
  CHECK(account_of({"alice", "daemon"}, (*account)->uid)->has_value() == false);
}

TEST_CASE("root is an account like others, where somebody has said so") {
  CHECK(account_of({"alice", "root"}, root)->has_value() == false);
}

TEST_CASE("an account that is not on the machine is named") {
  CHECK(why_not({"alice", "nobody-has-this-name"}, root) ==
        "there is no account 'nobody-has-this-name' here, as which jobs of the user alice are to "
        "run");
}
