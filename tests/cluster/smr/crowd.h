#pragma once

#include <doctest/doctest.h>
#include <piracema/smr/client.h>
#include <piracema/smr/key_value.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "base/random.h"
#include "cluster/smr/kv_model.h"
#include "linearizability/checker.h"
#include "tools/kv/group.h"

/// What the tests of real replicas share.
namespace piracema::testing {

using namespace linearizability;
using std::chrono::seconds;

/// For the files of a group; gone with the test.
class GroupFolder {
 public:
  GroupFolder() {
    path_ = (std::filesystem::temp_directory_path() / "smr-group-XXXXXX").string();
    REQUIRE(::mkdtemp(path_.data()) != nullptr);
  }
  ~GroupFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

constexpr std::uint64_t key_count = 8;

/// The replicated map, as clients of a Crowd ask it.
struct MapService {
  using Model = KvModel;

  /// Something to ask for; `value` has not been used yet.
  static KvModel::Input draw(Random& random, std::uint64_t value) {
    KvModel::Input input;
    input.kind = static_cast<KvModel::Kind>(random.below(4));
    input.key = random.below(key_count);
    input.value = value;
    return input;
  }
  static Result<Buffer> ask(smr::Client& client, const KvModel::Input& input) {
    return input.kind == KvModel::Kind::get ? client.invoke_unordered(bytes_of(input))
                                            : client.invoke_ordered(bytes_of(input));
  }
  /// Nothing, if this is no reply.
  static std::optional<KvModel::Output> output_of(const KvModel::Input& input, Bytes bytes) {
    const auto reply = smr::kv::decode_reply(bytes);
    if (!reply) return std::nullopt;
    KvModel::Output output;
    const bool ok = reply->status == smr::kv::Status::ok;
    if (input.kind != KvModel::Kind::get) output.done = ok;
    if (input.kind == KvModel::Kind::get && ok && !reply->entries.empty()) {
      output.value = std::strtoull(reply->entries[0].value.c_str(), nullptr, 10);
    }
    return output;
  }

 private:
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
};

/// Clients that ask for whatever comes to their minds, and write down what they hear.
template <class Service>
class CrowdOf {
 public:
  using Input = typename Service::Model::Input;
  using Output = typename Service::Model::Output;

  CrowdOf(const tools::KvGroup& group, std::size_t threads, seconds timeout = seconds(5)) {
    for (std::size_t i = 0; i < threads; ++i) {
      auto client = smr::Client::open(
          group.configuration(), {.id = 1, .key_file = group.client_key(), .timeout = timeout});
      REQUIRE(client.ok());
      clients_.push_back(*std::move(client));
    }
    for (std::size_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this, i] {
        Random random(i + 1);
        while (!stopped_) ask(i, Service::draw(random, ++values_));
      });
    }
  }
  ~CrowdOf() { stop(); }
  void stop() {
    stopped_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  /// One more question, of the first client; once all have stopped.
  void ask_once(const Input& input) { ask(0, input); }
  /// They close their sessions: a group that ends later is not waited for.
  void leave() {
    stop();
    clients_.clear();
  }
  /// Until so many more were answered: progress, whatever was done to the replicas.
  bool wait_for(std::uint64_t more) {
    std::unique_lock lock(mutex_);
    const std::uint64_t wanted = answered_ + more;
    return progress_.wait_for(lock, seconds(200), [&] { return answered_ >= wanted; });
  }
  std::uint64_t answered() {
    const std::lock_guard lock(mutex_);
    return answered_;
  }
  std::optional<std::uint32_t> leader() { return clients_[0]->leader(); }
  const Operations<typename Service::Model>& operations() const { return history_.operations(); }

 private:
  void ask(std::size_t client, const Input& input) {
    const std::size_t operation = called(client, input);
    const auto answer = Service::ask(*clients_[client], input);
    if (!answer) return;  // Open: nobody knows.
    const auto output = Service::output_of(input, *answer);
    if (output) heard(operation, *output);
  }

  std::size_t called(std::uint64_t client, const Input& input) {
    const std::lock_guard lock(mutex_);
    return history_.called(client, input);
  }
  void heard(std::size_t operation, const Output& output) {
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
  History<typename Service::Model> history_;
};

using Crowd = CrowdOf<MapService>;

}  // namespace piracema::testing
