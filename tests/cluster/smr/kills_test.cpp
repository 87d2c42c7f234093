// Real processes that are killed and frozen under load; what clients saw is held to the rule that
// it was possible with a single map that never fails.

#include <doctest/doctest.h>
#include <piracema/smr/client.h>
#include <piracema/smr/key_value.h>
#include <sys/mount.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/random.h"
#include "cluster/smr/kv_model.h"
#include "kv_group.h"
#include "linearizability/checker.h"

using namespace piracema;
using namespace piracema::testing;
using namespace piracema::linearizability;
using std::chrono::seconds;

namespace {

constexpr std::uint64_t key_count = 8;

/// Clients that ask for whatever comes to their minds, and write down what they hear.
class Crowd {
 public:
  Crowd(const tools::KvGroup& group, std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i) {
      auto client = smr::Client::open(
          group.configuration(), {.id = 1, .key_file = group.client_key(), .timeout = seconds(5)});
      REQUIRE(client.ok());
      clients_.push_back(*std::move(client));
    }
    for (std::size_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this, i] { ask(*clients_[i], i); });
    }
  }
  ~Crowd() { stop(); }
  void stop() {
    stopped_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  /// Until so many more were answered: progress, whatever was done to the replicas.
  bool wait_for(std::uint64_t more) {
    std::unique_lock lock(mutex_);
    const std::uint64_t wanted = answered_ + more;
    return progress_.wait_for(lock, seconds(60), [&] { return answered_ >= wanted; });
  }
  std::uint64_t answered() {
    const std::lock_guard lock(mutex_);
    return answered_;
  }
  std::optional<std::uint32_t> leader() { return clients_[0]->leader(); }
  const Operations<KvModel>& operations() const { return history_.operations(); }

 private:
  void ask(smr::Client& client, std::uint64_t number) {
    Random random(number + 1);
    while (!stopped_) {
      KvModel::Input input;
      input.kind = static_cast<KvModel::Kind>(random.below(4));
      input.key = random.below(key_count);
      input.value = ++values_;
      const std::size_t operation = called(number, input);
      const auto answer = input.kind == KvModel::Kind::get
                              ? client.invoke_unordered(bytes_of(input))
                              : client.invoke_ordered(bytes_of(input));
      if (!answer) continue;  // Open: nobody knows.
      const auto reply = smr::kv::decode_reply(*answer);
      if (!reply) continue;
      heard(operation, output_of(input, *reply));
    }
  }

  static Buffer bytes_of(const KvModel::Input& input) {
    const std::string key = std::to_string(input.key), value = std::to_string(input.value);
    switch (input.kind) {
      case KvModel::Kind::get:
        return smr::kv::encode(smr::kv::Get{key});
      case KvModel::Kind::remove:
        return smr::kv::encode(smr::kv::Remove{.key = key});
      case KvModel::Kind::put:
        return smr::kv::encode(smr::kv::Put{.key = key, .value = value});
      case KvModel::Kind::create:
        break;
    }
    return smr::kv::encode(smr::kv::Put{.key = key, .value = value, .expected = 0});
  }
  static KvModel::Output output_of(const KvModel::Input& input, const smr::kv::Reply& reply) {
    KvModel::Output output;
    const bool ok = reply.status == smr::kv::Status::ok;
    if (input.kind != KvModel::Kind::get) output.done = ok;
    if (input.kind == KvModel::Kind::get && ok && !reply.entries.empty()) {
      output.value = std::strtoull(reply.entries[0].value.c_str(), nullptr, 10);
    }
    return output;
  }

  std::size_t called(std::uint64_t client, const KvModel::Input& input) {
    const std::lock_guard lock(mutex_);
    return history_.called(client, input);
  }
  void heard(std::size_t operation, const KvModel::Output& output) {
    const std::lock_guard lock(mutex_);
    history_.answered(operation, output);
    answered_ += 1;
    progress_.notify_one();
  }

  std::vector<std::unique_ptr<smr::Client>> clients_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stopped_ = false;
  std::atomic<std::uint64_t> values_ = 0;
  std::mutex mutex_;
  std::condition_variable progress_;
  std::uint64_t answered_ = 0;
  History<KvModel> history_;
};

std::uint64_t rounds() {
  const char* text = std::getenv("PIRACEMA_KILLS");
  return text == nullptr ? 12 : std::strtoull(text, nullptr, 10);
}

void kill_and_freeze(bool byzantine) {
  std::string folder = (std::filesystem::temp_directory_path() / "smr-kills-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  {
    auto group = tools::KvGroup::make(
        {.byzantine = byzantine, .directory = folder, .program = PIRACEMA_COMMAND});
    REQUIRE(group.ok());
    Crowd crowd(*group, 4);
    Random random(byzantine ? 2 : 1);
    for (std::uint64_t i = 0; i < rounds(); ++i) {
      REQUIRE(crowd.wait_for(50));
      // One at a time, as f is 1; every second time the leader.
      const auto leader = crowd.leader();
      const std::size_t victim =
          i % 2 == 0 && leader ? *leader : random.below(group->configuration().replicas.size());
      const bool freeze = random.chance(0.4);
      CAPTURE(i);
      CAPTURE(victim);
      REQUIRE((freeze ? group->freeze(victim) : group->kill(victim)).ok());
      REQUIRE(crowd.wait_for(50));
      REQUIRE((freeze ? group->thaw(victim) : group->start(victim)).ok());
    }
    REQUIRE(crowd.wait_for(50));
    CHECK(group->ended().empty());
    crowd.stop();
    const auto verdict = check(crowd.operations());
    CHECK(verdict.is == Verdict::Is::linearizable);
    CHECK(verdict.why == "");
    MESSAGE(crowd.operations().size(), " operations, ", crowd.answered(), " answered");
  }
  std::filesystem::remove_all(folder);
}

}  // namespace

TEST_CASE("replicas that are killed and frozen lose nothing and contradict nobody") {
  SUBCASE("three that crash") { kill_and_freeze(false); }
  SUBCASE("four of which one may lie") { kill_and_freeze(true); }
}

TEST_CASE("a group that was killed as a whole goes on with all that it had answered") {
  std::string folder = (std::filesystem::temp_directory_path() / "smr-kills-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const tools::KvGroup::Options options{.directory = folder, .program = PIRACEMA_COMMAND};
  const auto ask = [](const tools::KvGroup& group, const Buffer& operation) {
    auto client = smr::Client::open(
        group.configuration(), {.id = 1, .key_file = group.client_key(), .timeout = seconds(30)});
    REQUIRE(client.ok());
    const auto answer = (*client)->invoke_ordered(operation);
    REQUIRE(answer.ok());
    return *smr::kv::decode_reply(*answer);
  };
  for (int life = 0; life < 3; ++life) {
    auto group = tools::KvGroup::make(options);
    REQUIRE(group.ok());
    if (life > 0) {
      const auto reply = ask(*group, smr::kv::encode(smr::kv::Get{"life"}));
      REQUIRE(reply.entries.size() == 1);
      CHECK(reply.entries[0].value == std::to_string(life - 1));
    }
    ask(*group, smr::kv::encode(smr::kv::Put{.key = "life", .value = std::to_string(life)}));
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("a replica whose disk is full ends and says so, the others go on, and it can come back") {
  std::string folder = (std::filesystem::temp_directory_path() / "smr-full-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const std::string disk = folder + "/replica-2";
  {
    auto group = tools::KvGroup::make({.directory = folder, .program = PIRACEMA_COMMAND});
    REQUIRE(group.ok());
    auto client = smr::Client::open(
        group->configuration(), {.id = 1, .key_file = group->client_key(), .timeout = seconds(30)});
    REQUIRE(client.ok());
    const auto put = [&](const std::string& value) {
      const auto answer =
          (*client)->invoke_ordered(smr::kv::encode(smr::kv::Put{.key = "k", .value = value}));
      REQUIRE(answer.ok());
    };
    put("before");
    // Its disk is exchanged for one with room for the first file of its log alone.
    REQUIRE(group->kill(2).ok());
    const bool mounted = ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=20m") == 0;
    if (mounted) {
      REQUIRE(group->start(2).ok());
      const std::string large(20'000, 'x');
      bool full = false;
      for (int i = 0; i < 20'000 && !full; ++i) {
        put(large);
        full = group->ended() == std::vector<std::size_t>{2};
      }
      CHECK(full);
      put("while it is gone");
      // A new disk, without what it had promised: it catches up, and is needed when another goes.
      REQUIRE(::umount(disk.c_str()) == 0);
      std::filesystem::remove_all(disk);
      REQUIRE(group->start(2).ok());
      put("again");
      REQUIRE(group->kill(1).ok());
      put("with the one that came back");
    } else {
      MESSAGE("SKIPPED: this machine does not let us mount a tmpfs");
    }
  }
  std::filesystem::remove_all(folder);
}
