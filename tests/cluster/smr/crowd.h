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
    return progress_.wait_for(lock, seconds(200), [&] { return answered_ >= wanted; });
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

}  // namespace piracema::testing
