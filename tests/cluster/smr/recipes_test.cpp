// Locks and queues of real replicas, of which the leader is killed again and again, and of holders
// that are killed or cut off: tokens only grow, nobody is in a lock beside another one, no item is
// lost and none is finished twice.

#include <doctest/doctest.h>
#include <piracema/smr/lock.h>
#include <piracema/smr/queue.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "base/text.h"
#include "cluster/smr/crowd.h"
#include "smr/recipes/testing.h"

using namespace piracema;
using namespace piracema::testing;
using smr::kv::Index;
using smr::kv::testing::Line;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds ttl{2'000};

std::unique_ptr<smr::Client> client_of(const tools::KvGroup& group) {
  auto client = smr::Client::open(group.configuration(),
                                  {.id = 1, .key_file = group.client_key(), .timeout = seconds(5)});
  REQUIRE(client.ok());
  return *std::move(client);
}

/// Counts what others get done, so that a test goes on with it and not with the clock.
class Progress {
 public:
  void made() {
    const std::lock_guard lock(mutex_);
    count_ += 1;
    news_.notify_all();
  }
  bool wait_for(std::uint64_t more) {
    std::unique_lock lock(mutex_);
    const std::uint64_t wanted = count_ + more;
    return news_.wait_for(lock, seconds(200), [&] { return count_ >= wanted; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable news_;
  std::uint64_t count_ = 0;
};

/// Whether the others go on without it, and with it again.
bool kill_leader(tools::KvGroup& group, smr::Client& client, Progress& progress) {
  const auto leader = client.leader();
  return leader && group.kill(*leader).ok() && progress.wait_for(5) && group.start(*leader).ok() &&
         progress.wait_for(5);
}

/// `piracema kv lock` as a process; its standard error goes to the file `errors`, if there is one.
class LockCommand {
 public:
  LockCommand(const tools::KvGroup& group, const std::string& key,
              const std::vector<std::string>& command, std::vector<std::string> options = {},
              const std::string& errors = {}) {
    std::vector<std::string> words = {
        "piracema",         "kv",    "lock", "--config", group.configuration_file(), "--key",
        group.client_key(), "--ttl", "2s"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {key, "--"});
    words.insert(words.end(), command.begin(), command.end());
    std::vector<char*> raw;
    for (std::string& word : words) raw.push_back(word.data());
    raw.push_back(nullptr);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      if (!errors.empty() && std::freopen(errors.c_str(), "w", stderr) == nullptr) ::_exit(127);
      ::execv(PIRACEMA_COMMAND, raw.data());
      ::_exit(127);
    }
  }
  ~LockCommand() {
    if (pid_ != 0) {
      send(SIGKILL);
      wait();
    }
  }
  void send(int signal) const { ::kill(pid_, signal); }
  /// The exit code, or minus the signal.
  int wait() {
    int status = 0;
    REQUIRE(::waitpid(pid_, &status, 0) == pid_);
    pid_ = 0;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t pid_ = 0;
};

/// The entry, once somebody holds this lock.
smr::kv::Entry wait_for_holder(smr::Client& client, const std::string& key) {
  const auto end = std::chrono::steady_clock::now() + seconds(200);
  while (true) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    const auto answer = client.invoke_unordered(smr::kv::encode(smr::kv::Get{key}));
    if (!answer) continue;
    const auto reply = smr::kv::decode_reply(*answer);
    if (reply && reply->status == smr::kv::Status::ok) return reply->entries.at(0);
    std::this_thread::sleep_for(milliseconds(20));
  }
}

/// Those who want one lock, over and over.
class Rivals {
 public:
  Rivals(const tools::KvGroup& group, std::size_t count, Progress& progress) : progress_(progress) {
    for (std::size_t i = 0; i < count; ++i) clients_.push_back(client_of(group));
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([this, i] { want(*clients_[i], i); });
    }
  }
  ~Rivals() { stop(); }
  void stop() {
    stopped_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  smr::Client& client() { return *clients_[0]; }
  /// In the order in which the lock was had; after `stop`.
  const std::vector<Index>& tokens() const { return tokens_; }
  bool was_shared() const { return shared_; }
  /// Writes with the lock's fence that the map took, and refused.
  std::uint64_t written() const { return written_; }

 private:
  void want(smr::Client& client, std::size_t number) {
    while (!stopped_) {
      const auto lock = smr::kv::Lock::acquire(
          client, "lock", {.lease = {.ttl = ttl}, .holder = concat("rival ", number)}, seconds(1));
      if (!lock) continue;
      be_inside(client, **lock);
    }
  }
  void be_inside(smr::Client& client, const smr::kv::Lock& lock) {
    {
      const std::lock_guard guard(mutex_);
      // A holder whose lease may have ended is not inside any more, whatever it still does.
      for (const smr::kv::Lock* other : inside_)
        shared_ = shared_ || (other->held() && lock.held());
      inside_.insert(&lock);
      tokens_.push_back(lock.token());
    }
    const auto answer = client.invoke_ordered(smr::kv::encode(
        smr::kv::Put{.key = "data", .value = std::to_string(lock.token()), .fence = lock.fence()}));
    const auto reply = answer ? smr::kv::decode_reply(*answer) : answer.error();
    if (reply && reply->status == smr::kv::Status::ok) written_ += 1;
    {
      const std::lock_guard guard(mutex_);
      inside_.erase(&lock);
    }
    progress_.made();
  }

  Progress& progress_;
  std::vector<std::unique_ptr<smr::Client>> clients_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stopped_ = false;
  std::atomic<std::uint64_t> written_ = 0;
  std::mutex mutex_;
  std::set<const smr::kv::Lock*> inside_;
  std::vector<Index> tokens_;
  bool shared_ = false;
};

void fight_over_a_lock(bool byzantine) {
  const GroupFolder folder;
  auto group = tools::KvGroup::make(
      {.byzantine = byzantine, .directory = folder.path(), .program = PIRACEMA_COMMAND});
  REQUIRE(group.ok());
  Progress progress;
  Index before = 0;
  {
    // A holder that is killed keeps the others out until its lease ends, and no longer.
    LockCommand holder(*group, "lock", {"sleep", "1000"});
    const auto client = client_of(*group);
    before = wait_for_holder(*client, "lock").created;
    holder.send(SIGKILL);
    CHECK(holder.wait() == -SIGKILL);
  }
  Rivals rivals(*group, 3, progress);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(progress.wait_for(5));
    REQUIRE(kill_leader(*group, rivals.client(), progress));
  }
  rivals.stop();
  CHECK(group->ended().empty());
  CHECK_FALSE(rivals.was_shared());
  CHECK(rivals.written() > 0);
  for (const Index token : rivals.tokens()) {
    CHECK(token > before);
    before = token;
  }
  MESSAGE(rivals.tokens().size(), " holders, ", rivals.written(), " writes");
}

/// Takers of one queue, each of which notes in the map, in the operation that finishes an item,
/// that it has: a second time is refused.
class Takers {
 public:
  Takers(const tools::KvGroup& group, std::size_t count, Progress& progress) : progress_(progress) {
    for (std::size_t i = 0; i < count; ++i) clients_.push_back(client_of(group));
    for (std::size_t i = 0; i < count; ++i)
      threads_.emplace_back([this, i] { take(*clients_[i]); });
  }
  ~Takers() { stop(); }
  void stop() {
    stopped_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  smr::Client& client() { return *clients_[0]; }
  /// Each with the tokens of its claims, in the order in which they were had; after `stop`.
  const std::map<std::string, std::vector<Index>>& claims() const { return claims_; }

 private:
  void take(smr::Client& client) {
    smr::kv::Queue queue(client, "work", {.ttl = ttl});
    while (!stopped_) {
      const auto claim = queue.claim(milliseconds(100));
      if (!claim || !*claim) continue;
      {
        const std::lock_guard guard(mutex_);
        claims_[(**claim).item].push_back((**claim).fence.token);
      }
      finish(client, queue, **claim);
      progress_.made();
    }
  }
  // Asked again until somebody has said what became of it.
  void finish(smr::Client& client, const smr::kv::Queue& queue,
              const smr::kv::Queue::Claim& claim) {
    smr::kv::Transaction all = queue.finishing(claim);
    all.puts.push_back({concat("done/", claim.item), "", Index{0}});
    for (int i = 0; i < 20; ++i) {
      if (client.invoke_ordered(smr::kv::encode(all))) return;
    }
  }

  Progress& progress_;
  std::vector<std::unique_ptr<smr::Client>> clients_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::map<std::string, std::vector<Index>> claims_;
};

}  // namespace

TEST_CASE("a lock has one holder and growing tokens, whoever of its group or of its holders dies") {
  SUBCASE("three that crash") { fight_over_a_lock(false); }
  SUBCASE("four of which one may lie") { fight_over_a_lock(true); }
}

TEST_CASE("no item of a queue is lost or finished twice, whoever of its group or its takers dies") {
  const GroupFolder folder;
  auto group = tools::KvGroup::make({.directory = folder.path(), .program = PIRACEMA_COMMAND});
  REQUIRE(group.ok());
  Progress progress;
  const auto producer = client_of(*group);
  smr::kv::Queue queue(*producer, "work");
  // One that had an answer lost may be there or not; all others are.
  std::set<std::string> put;
  int number = 0;
  const auto fill = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const std::string item = std::to_string(number++);
      if (queue.put(item).ok()) put.insert(item);
    }
  };
  fill(20);
  // One that has claimed an item and stands still: the item goes to another one, and what it does
  // later counts for nothing.
  const auto frozen_client = client_of(*group);
  Line line(*frozen_client);
  smr::kv::Queue frozen(line, "work", {.ttl = ttl});
  const auto held = frozen.claim(seconds(30));
  REQUIRE(held.ok());
  REQUIRE(held->has_value());
  line.cut();

  Takers takers(*group, 3, progress);
  std::atomic<bool> full = false;
  std::thread filler([&] {
    while (!full) fill(1);
  });
  bool goes_on = true;
  for (int i = 0; i < 3 && goes_on; ++i) {
    goes_on = progress.wait_for(10) && kill_leader(*group, takers.client(), progress);
  }
  full = true;
  filler.join();
  REQUIRE(goes_on);
  const auto list = [&](const std::string& prefix) {
    std::vector<smr::kv::Entry> all;
    for (bool more = true; more;) {
      const std::string after = all.empty() ? "" : all.back().key;
      const auto answer = producer->invoke_unordered(smr::kv::encode(smr::kv::List{prefix, after}));
      REQUIRE(answer.ok());
      const auto part = smr::kv::decode_reply(*answer);
      REQUIRE(part.ok());
      all.insert(all.end(), part->entries.begin(), part->entries.end());
      more = part->more;
    }
    return all;
  };
  const auto end = std::chrono::steady_clock::now() + seconds(200);
  while (!list("work/item/").empty()) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::sleep_for(milliseconds(50));
  }
  takers.stop();
  line.mend();
  CHECK(frozen.finish(**held).error().code == Errc::refused);

  std::set<std::string> done;
  for (const smr::kv::Entry& entry : list("done/")) done.insert(entry.key.substr(5));
  for (const std::string& item : put) {
    CAPTURE(item);
    CHECK(done.count(item) == 1);
  }
  CHECK(takers.claims().count((**held).item) == 1);
  for (const auto& [item, tokens] : takers.claims()) {
    CAPTURE(item);
    CHECK(std::is_sorted(tokens.begin(), tokens.end()));
    if (item == (**held).item) CHECK(tokens.front() > (**held).fence.token);
  }
  MESSAGE(put.size(), " items, ", done.size(), " done");
}

TEST_CASE("a command that cannot be run is told from one that ends as if it could not") {
  const GroupFolder folder;
  auto group = tools::KvGroup::make({.directory = folder.path(), .program = PIRACEMA_COMMAND});
  REQUIRE(group.ok());
  const auto said_by = [&](const std::vector<std::string>& command) {
    const std::string errors = folder.path() + "/errors";
    CHECK(LockCommand(*group, "l", command, {}, errors).wait() == 127);
    std::ostringstream text;
    text << std::ifstream(errors).rdbuf();
    return text.str();
  };
  CHECK(said_by({"sh", "-c", "exit 127"}).find("cannot be run") == std::string::npos);
  CHECK(said_by({"/no/program"}).find("'/no/program' cannot be run: No such file or directory") !=
        std::string::npos);
}

TEST_CASE("a command under a lock has its token, its exit code, and an end when the lock is lost") {
  const GroupFolder folder;
  auto group = tools::KvGroup::make({.directory = folder.path(), .program = PIRACEMA_COMMAND});
  REQUIRE(group.ok());
  const auto client = client_of(*group);
  const auto run = [&](const std::vector<std::string>& command,
                       const std::vector<std::string>& options = {}) {
    return LockCommand(*group, "l", command, options).wait();
  };
  CHECK(run({"sh", "-c", "exit 7"}) == 7);
  CHECK(run({"sh", "-c", "kill -9 $$"}) == 128 + SIGKILL);
  CHECK(run({"/no/such/program"}) == 127);
  CHECK(run({"true"}, {"--wait", "soon"}) == 2);

  const std::string file = folder.path() + "/token";
  CHECK(run({"sh", "-c", "echo $PIRACEMA_LOCK_TOKEN > " + file}) == 0);
  Index token = 0;
  std::ifstream(file) >> token;
  CHECK(token > 0);

  LockCommand holder(*group, "l", {"sleep", "1000"});
  CHECK(wait_for_holder(*client, "l").created > token);
  CHECK(run({"true"}, {"--wait", "1s"}) == 75);
  SUBCASE("somebody takes the lock away") {
    REQUIRE(client->invoke_ordered(smr::kv::encode(smr::kv::Remove{.key = "l"})).ok());
    CHECK(holder.wait() == 76);
  }
  SUBCASE("the group is gone") {
    for (std::size_t i = 0; i < 3; ++i) REQUIRE(group->kill(i).ok());
    CHECK(holder.wait() == 76);
  }
  SUBCASE("it is told to end, and the next one has the lock") {
    holder.send(SIGTERM);
    CHECK(holder.wait() == 128 + SIGTERM);
    CHECK(run({"true"}, {"--wait", "60s"}) == 0);
  }
}
