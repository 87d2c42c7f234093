// Minutes of everything that can happen to replicas of real processes, one thing at a time, under
// load: PIRACEMA_SOAK=300 says for how many seconds. What clients saw is held to a single map.

#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/log.h"
#include "cluster/smr/crowd.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

bool run(const std::string& command) { return std::system(command.c_str()) == 0; }

constexpr const char* unshare = "unshare --net --mount --map-root-user ";

/// Starts this program again where networks and mounts are its own. False if the machine does not
/// let us, or has no `ip`.
bool in_a_place_of_its_own() {
  if (std::getenv("PIRACEMA_SOAK_INSIDE") != nullptr) return true;
  if (!run(std::string(unshare) + "ip link set lo up 2> /dev/null")) return false;
  ::setenv("PIRACEMA_SOAK_INSIDE", "1", 1);
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  std::istringstream parts(unshare);
  for (std::string word; parts >> word;) words.push_back(word);
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  return false;
}

/// A group with an address for each replica, all on this machine's own network, and a small disk
/// for each.
class Soak {
 public:
  explicit Soak(bool byzantine) : n_(byzantine ? 4 : 3) {
    std::vector<std::string> hosts;
    for (std::size_t i = 0; i < n_; ++i) {
      hosts.push_back(concat("10.77.0.", i + 1));
      REQUIRE(run(concat("ip addr add ", hosts.back(), "/32 dev lo")));
      REQUIRE(::mkdir(disk(i).c_str(), 0700) == 0);
      REQUIRE(::mount("tmpfs", disk(i).c_str(), "tmpfs", 0, "size=200m") == 0);
    }
    auto made = tools::KvGroup::make({.byzantine = byzantine,
                                      .directory = folder_.path(),
                                      .program = PIRACEMA_COMMAND,
                                      .hosts = hosts});
    REQUIRE(made.ok());
    group_.emplace(*std::move(made));
  }
  ~Soak() {
    group_.reset();
    for (std::size_t i = 0; i < n_; ++i) {
      ::umount2(disk(i).c_str(), MNT_DETACH);
      run(concat("ip addr del 10.77.0.", i + 1, "/32 dev lo"));
    }
  }

  tools::KvGroup& group() { return *group_; }
  std::size_t size() const { return n_; }

  /// Nothing comes from it and nothing goes to it; connections do not end.
  void cut(std::size_t replica) {
    const std::string host = concat("10.77.0.", replica + 1);
    REQUIRE(run(concat("ip rule add pref 50 to ", host, " blackhole")));
    REQUIRE(run(concat("ip rule add pref 51 from ", host, " blackhole")));
  }
  void mend() { REQUIRE(run("ip rule del pref 50 && ip rule del pref 51")); }

  /// Its disk is full, and it ends as soon as it needs room for its log.
  void fill(std::size_t replica) {
    std::ofstream file(disk(replica) + "/rubbish");
    const std::string much(1 << 20, 'x');
    while (file) file << much << std::flush;
    auto client =
        smr::Client::open(group_->configuration(),
                          {.id = 1, .key_file = group_->client_key(), .timeout = seconds(30)});
    REQUIRE(client.ok());
    const auto put =
        smr::kv::encode(smr::kv::Put{.key = "large", .value = std::string(50'000, 'x')});
    bool has_ended = false;
    for (int i = 0; i < 1'000 && !has_ended; ++i) {
      REQUIRE((*client)->invoke_ordered(put).ok());
      has_ended = group_->ended() == std::vector<std::size_t>{replica};
    }
    CHECK(has_ended);
  }
  /// There is room again, and what it has promised is all there.
  void clear(std::size_t replica) {
    REQUIRE(::unlink((disk(replica) + "/rubbish").c_str()) == 0);
    REQUIRE(group_->start(replica).ok());
  }

 private:
  std::string disk(std::size_t replica) const {
    return concat(folder_.path(), "/replica-", replica);
  }

  const std::size_t n_;
  GroupFolder folder_;
  std::optional<tools::KvGroup> group_;
};

seconds length() {
  const char* text = std::getenv("PIRACEMA_SOAK");
  return seconds(text == nullptr ? 4 : std::strtoll(text, nullptr, 10));
}

void live_through_everything(bool byzantine, seconds time) {
  Soak soak(byzantine);
  tools::KvGroup& group = soak.group();
  Crowd crowd(group, 4);
  Random random(byzantine ? 8 : 7);
  std::size_t rounds = 0;
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end || rounds < 6) {
    REQUIRE(crowd.wait_for(30));
    const auto leader = crowd.leader();
    const std::size_t victim = rounds % 2 == 0 && leader ? *leader : random.below(soak.size());
    const std::size_t what = rounds < 4 ? rounds : random.below(4);
    ++rounds;
    CAPTURE(victim);
    CAPTURE(what);
    switch (what) {
      case 0:
        REQUIRE(group.kill(victim).ok());
        REQUIRE(crowd.wait_for(30));
        REQUIRE(group.start(victim).ok());
        break;
      case 1:
        REQUIRE(group.freeze(victim).ok());
        REQUIRE(crowd.wait_for(30));
        REQUIRE(group.thaw(victim).ok());
        break;
      case 2:
        soak.cut(victim);
        REQUIRE(crowd.wait_for(30));
        soak.mend();
        break;
      default:
        soak.fill(victim);
        REQUIRE(crowd.wait_for(30));
        soak.clear(victim);
    }
  }
  REQUIRE(crowd.wait_for(30));
  crowd.stop();
  CHECK(group.ended().empty());
  const auto verdict = check(crowd.operations());
  CHECK(verdict.is == Verdict::Is::linearizable);
  CHECK(verdict.why == "");
  MESSAGE(rounds, " faults, ", crowd.operations().size(), " operations, ", crowd.answered(),
          " answered");
}

}  // namespace

TEST_CASE("replicas are killed, frozen, cut off and out of disk for minutes, and nothing is lost") {
  if (!in_a_place_of_its_own()) {
    MESSAGE("SKIPPED: this machine does not let us make networks and mounts, or has no `ip`");
    return;
  }
  REQUIRE(run("ip link set lo up && ip rule add pref 100 lookup local && ip rule del pref 0"));
  live_through_everything(false, length() / 2);
  live_through_everything(true, length() / 2);
}
