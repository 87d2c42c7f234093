#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <piracema/smr/administrator.h>
#include <piracema/smr/client.h>
#include <piracema/smr/key_value.h>
#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "smr/link/keys.h"
#include "smr/replica/replica_node.h"
#include "smr/replica/testing.h"

using namespace piracema;
using namespace piracema::smr;
using namespace piracema::smr::testing;

namespace {

using std::chrono::milliseconds;

std::string free_address() {
  const Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return concat("127.0.0.1:", ntohs(address.sin_port));
}

/// What the callbacks of all replicas have said.
class WordsHeard {
 public:
  struct Word {
    ReplicaId replica = 0;
    /// None: it leads no longer.
    std::optional<std::uint64_t> term;
  };
  void say(Word word) {
    const std::lock_guard lock(mutex_);
    words_.push_back(word);
    news_.notify_all();
  }
  void applied(ReplicaId replica, std::uint64_t instance) {
    const std::lock_guard lock(mutex_);
    in_order_ = in_order_ && instance >= applied_[replica];
    applied_[replica] = instance;
    news_.notify_all();
  }
  /// Until it holds; false after a minute.
  template <class Holds>
  bool wait(const Holds& holds) {
    std::unique_lock lock(mutex_);
    return news_.wait_for(lock, std::chrono::minutes(1),
                          [&] { return holds(words_, applied_) && in_order_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<Word> words_;
  std::map<ReplicaId, std::uint64_t> applied_;
  bool in_order_ = true;
};

/// Three replicas of the key-value map in this process.
class Trio {
 public:
  Trio() {
    configuration_.name = "trio";
    configuration_.clients = {{7, hex_key_of(7)}};
    configuration_.administrator = hex_key_of(9);
    for (std::uint8_t i = 0; i < 3; ++i) {
      configuration_.replicas.push_back({i, free_address(), hex_key_of(i)});
    }
    for (ReplicaId i = 0; i < 3; ++i) start(i);
    REQUIRE(write_key(folder_ / "key", key_of(7)).ok());
    auto client = smr::Client::open(
        configuration_,
        {.id = 7, .key_file = folder_ / "key", .timeout = std::chrono::seconds(60)});
    REQUIRE(client.ok());
    client_ = *std::move(client);
  }
  ~Trio() {
    client_.reset();
    for (auto& node : nodes_) node->stop();
    for (std::thread& thread : threads_) thread.join();
  }

  template <class Operation>
  kv::Reply ask(const Operation& operation, bool ordered = true) {
    const Buffer bytes = kv::encode(operation);
    const auto answer = ordered ? client_->invoke_ordered(bytes) : client_->invoke_unordered(bytes);
    REQUIRE(answer.ok());
    const auto reply = kv::decode_reply(*answer);
    REQUIRE(reply.ok());
    return *reply;
  }
  /// By the process of that replica.
  template <class Operation>
  Result<kv::Reply> ask_from(ReplicaId replica, const Operation& operation, bool ordered = true) {
    const auto answer = std::make_shared<std::promise<Result<Buffer>>>();
    nodes_[replica]->invoke(ordered, kv::encode(operation), [answer](Result<Buffer> result) {
      answer->set_value(std::move(result));
    });
    const auto result = answer->get_future().get();
    if (!result) return result.error();
    return kv::decode_reply(*result);
  }
  void stop(ReplicaId replica) {
    nodes_[replica]->stop();
    threads_[replica].join();
    threads_[replica] = std::thread([] {});
  }
  /// What its administrator wants.
  void change(const MembersChange& change) {
    REQUIRE(write_key(folder_ / "administrator", key_of(9)).ok());
    auto administrator = Administrator::open(configuration_, {.key_file = folder_ / "administrator",
                                                              .timeout = std::chrono::seconds(60)});
    REQUIRE(administrator.ok());
    const auto changed = (*administrator)->change(change);
    CAPTURE((changed ? "" : changed.error().message));
    REQUIRE(changed.ok());
  }
  WordsHeard& heard() { return heard_; }
  /// The others do not hear it any more; it hears them.
  void mute(ReplicaId replica) { muted_ = static_cast<int>(replica); }

 private:
  void start(ReplicaId id) {
    machines_.push_back(kv::make_machine());
    ReplicaNode::Place place{.id = id,
                             .key = key_of(static_cast<std::uint8_t>(id)),
                             .directory = folder_ / concat("replica-", id),
                             .first_start = true};
    place.leads = [this, id](std::uint64_t term) { heard_.say({id, term}); };
    place.leads_no_longer = [this, id] { heard_.say({id, std::nullopt}); };
    place.applied = [this, id](std::uint64_t instance) { heard_.applied(id, instance); };
    place.distort = [this, id](ReplicaId, const MessagePtr& m) {
      return muted_ == static_cast<int>(id) ? nullptr : m;
    };
    auto node = ReplicaNode::start(configuration_, std::move(place), *machines_.back());
    CAPTURE((node ? "" : node.error().message));
    REQUIRE(node.ok());
    nodes_.push_back(*std::move(node));
    threads_.emplace_back([&running = *nodes_.back()] { static_cast<void>(running.run()); });
  }

  const Folder folder_;
  Configuration configuration_;
  WordsHeard heard_;
  std::atomic<int> muted_ = -1;
  std::vector<std::unique_ptr<StateMachine>> machines_;
  std::vector<std::unique_ptr<ReplicaNode>> nodes_;
  std::vector<std::thread> threads_;
  std::unique_ptr<smr::Client> client_;
};

}  // namespace

TEST_CASE(
    "a process is told since which term it leads, that it no longer does, and what is applied") {
  Trio trio;
  const kv::Index put = trio.ask(kv::Put{.key = "a", .value = "1"}).index;
  const std::uint64_t instance = put >> 20;
  CHECK(trio.heard().wait([&](const auto& words, auto& applied) {
    return !words.empty() && applied[0] >= instance && applied[1] >= instance &&
           applied[2] >= instance;
  }));
  std::optional<WordsHeard::Word> first;
  trio.heard().wait([&](const auto& words, auto&) {
    first = words.front();
    return true;
  });
  REQUIRE(first->term.has_value());
  trio.mute(first->replica);
  CHECK(trio.heard().wait([&](const auto& words, auto&) {
    bool deposed = false, followed = false;
    for (const WordsHeard::Word& word : words) {
      deposed = deposed || (word.replica == first->replica && !word.term);
      followed = followed || (word.replica != first->replica && word.term > first->term);
    }
    return deposed && followed;
  }));
}

TEST_CASE(
    "who leads on when another one goes is told the larger term, and not that it leads no longer") {
  Trio trio;
  std::vector<WordsHeard::Word> said;
  REQUIRE(trio.heard().wait([&](const auto& words, auto&) {
    said = words;
    return !words.empty();
  }));
  const ReplicaId leader = said.back().replica;
  trio.change({.remove = {leader == 2 ? 1U : 2U}, .add = {}, .f = 0});
  CHECK(trio.heard().wait([&](const auto& words, auto&) {
    said = words;
    return words.back().term >= std::uint64_t{1} << 32;
  }));
  REQUIRE(said.size() >= 2);
  const WordsHeard::Word before = said[said.size() - 2];
  CHECK(before.replica == leader);
  CHECK(said.back().replica == leader);
  CHECK(before.term.has_value());
}

TEST_CASE("a lease ends though nobody has anything ordered") {
  Trio trio;
  const kv::Index lease = trio.ask(kv::Grant{300'000'000}).lease;
  const kv::Index put = trio.ask(kv::Put{.key = "lock", .value = "me", .lease = lease}).index;
  // On a machine that is slow it may have ended before.
  const std::uint64_t instance = put >> 20;
  CHECK(trio.heard().wait([&](const auto&, auto& applied) { return applied[1] > instance; }));
  CHECK(trio.ask(kv::Get{"lock"}, false).status == kv::Status::not_found);
}

TEST_CASE("the process of a replica asks its group without being a client, whoever leads") {
  Trio trio;
  for (ReplicaId id = 0; id < 3; ++id) {
    CAPTURE(id);
    const auto put = trio.ask_from(id, kv::Put{.key = "from", .value = std::to_string(id)});
    REQUIRE(put.ok());
    CHECK(put->status == kv::Status::ok);
    // It is in the group, and in this replica's own state.
    CHECK(trio.ask(kv::Get{"from"}).entries.at(0).value == std::to_string(id));
    const auto read = trio.ask_from(id, kv::Get{"from"}, false);
    REQUIRE(read.ok());
    CHECK(read->entries.at(0).value == std::to_string(id));
  }
}

TEST_CASE(
    "operations of a replica's process are each executed once, also when the leader changes") {
  Trio trio;
  const auto leader = [&] {
    std::optional<WordsHeard::Word> first;
    trio.heard().wait([&](const auto& words, auto&) {
      if (!words.empty()) first = words.front();
      return !words.empty();
    });
    return first->replica;
  }();
  const ReplicaId other = (leader + 1) % 3;
  kv::Index version = 0;
  for (int i = 0; i < 20; ++i) {
    if (i == 10) trio.mute(leader);
    const auto put =
        trio.ask_from(other, kv::Put{.key = "n", .value = std::to_string(i), .expected = version});
    REQUIRE(put.ok());
    // A second time it would find what the first has written.
    REQUIRE(put->status == kv::Status::ok);
    version = put->entries.at(0).changed;
  }
}

TEST_CASE("a process whose replica has ended is told so") {
  Trio trio;
  REQUIRE(trio.ask_from(1, kv::Put{.key = "a", .value = "1"}).ok());
  trio.stop(1);
  CHECK(trio.ask_from(1, kv::Put{.key = "a", .value = "2"}).error().code == Errc::timeout);
}
