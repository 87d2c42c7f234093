#include "cluster/smr/linear/clients.h"

#include <cmath>

#include "base/ensure.h"

namespace piracema::testing {

namespace kv = smr::kv;

namespace {

using Kind = KeyModel::Kind;

struct Known {
  std::uint64_t value = 0, version = 0;
};

std::string name_of(std::size_t key) { return "key-" + std::to_string(key); }

std::chrono::milliseconds patience_of(std::size_t number) {
  if (number % 4 == 3) return std::chrono::milliseconds(200);
  return number % 4 == 2 ? std::chrono::seconds(1) : std::chrono::seconds(10);
}

}  // namespace

std::uint64_t number_of(const std::string& value) {
  return std::strtoull(value.c_str(), nullptr, 10);
}

/// One of the clients, on its thread.
class Clients::One {
 public:
  One(Clients& all, std::size_t number)
      : all_(all),
        recorder_(*all.place_.recorder),
        number_(number),
        random_(all.options_.seed * 1'000 + number),
        known_(all.options_.keys) {}

  void run() {
    const double each = static_cast<double>(all_.options_.count) / all_.options_.rate;
    const Time pause = all_.options_.rate == 0 ? Time{} : Time{std::llround(each * 1e9)};
    Time next = now();
    while (!all_.stopped_) {
      const bool leaves = number_ % 2 == 0 && generation_ != all_.generation_;
      generation_ = all_.generation_;
      if (!client_) open();
      ask(leaves);
      // Who was kept waiting does not make up for it.
      next = std::max(next + pause, now());
      std::this_thread::sleep_until(std::chrono::steady_clock::time_point(next));
    }
  }

 private:
  void open() {
    auto client = smr::Client::open(
        all_.place_.configuration,
        {.id = 1, .key_file = all_.place_.key_file, .timeout = patience_of(number_)});
    ENSURE(client.ok());
    client_ = *std::move(client);
  }

  void ask(bool leaves) {
    const std::size_t key = random_.chance(0.3) ? random_.below(3) : random_.below(known_.size());
    const Kind kind = draw_kind();
    KeyModel::Input input{kind};
    if (kind != Kind::get && kind != Kind::remove) input.value = recorder_.new_value();
    if (kind == Kind::swap || kind == Kind::remove_if) input.wanted = known_[key].value;
    if (kind == Kind::remove_if) input.value = 0;
    const Buffer bytes = bytes_of(key, input);
    const Time call = now();
    const auto number = recorder_.called(key, number_, input);
    if (leaves) {
      client_->invoke_ordered(bytes, [](const Result<Buffer>&) {});
      client_.reset();
      recorder_.lost(key, number);
      return;
    }
    const auto answer =
        kind == Kind::get ? client_->invoke_unordered(bytes) : client_->invoke_ordered(bytes);
    const auto reply = answer ? kv::decode_reply(*answer) : Result<kv::Reply>(answer.error());
    if (!reply) {
      // A read that nobody saw changes nothing.
      kind == Kind::get ? recorder_.cancel(key, number) : recorder_.lost(key, number);
      return;
    }
    all_.place_.service->answered(call);
    recorder_.answered(key, number, output_of(input, *reply));
    learn(key, input, *reply);
  }

  // Without anything that it knows it neither swaps nor removes one.
  Kind draw_kind() {
    const double where = random_.unit();
    if (where < 0.45) return Kind::get;
    if (where < 0.70) return Kind::put;
    if (where < 0.75) return Kind::create;
    if (where < 0.80) return Kind::remove;
    return where < 0.95 ? Kind::swap : Kind::remove_if;
  }

  Buffer bytes_of(std::size_t key, const KeyModel::Input& input) {
    const std::string name = name_of(key);
    const auto expected = known_[key].version;
    std::string value = std::to_string(input.value);
    if (random_.chance(0.05)) value += "/" + std::string(random_.below(4'000), 'x');
    switch (input.kind) {
      case Kind::get:
        return kv::encode(kv::Get{name});
      case Kind::put:
        return kv::encode(kv::Put{.key = name, .value = value});
      case Kind::create:
        return kv::encode(kv::Put{.key = name, .value = value, .expected = 0});
      case Kind::swap:
        return kv::encode(kv::Put{.key = name, .value = value, .expected = expected});
      case Kind::remove:
        return kv::encode(kv::Remove{.key = name});
      case Kind::remove_if:
        break;
    }
    return kv::encode(kv::Remove{.key = name, .expected = expected});
  }

  static KeyModel::Output output_of(const KeyModel::Input& input, const kv::Reply& reply) {
    const bool done = reply.status == kv::Status::ok;
    if (input.kind != Kind::get) return {done};
    return {true, done && !reply.entries.empty() ? number_of(reply.entries[0].value) : 0};
  }

  // With version 0 a swap is a create, and a removal is one of nothing: it knows no value then.
  void learn(std::size_t key, const KeyModel::Input& input, const kv::Reply& reply) {
    const bool sees = reply.status == kv::Status::ok && !reply.entries.empty();
    const bool removes = input.kind == Kind::remove || input.kind == Kind::remove_if;
    if (!sees || removes) {
      if (removes || input.kind == Kind::get) known_[key] = {};
      return;
    }
    const std::uint64_t value =
        input.kind == Kind::get ? number_of(reply.entries[0].value) : input.value;
    known_[key] = {value, reply.entries[0].changed};
    recorder_.is_of_version(key, value, reply.entries[0].changed);
  }

  Clients& all_;
  Recorder& recorder_;
  const std::size_t number_;
  Random random_;
  std::vector<Known> known_;
  std::unique_ptr<smr::Client> client_;
  std::uint64_t generation_ = 0;
};

Clients::Clients(const ClientPlace& place, const Options& options)
    : place_(place), options_(options) {
  ENSURE(options.keys <= place.recorder->keys());
  for (std::size_t i = 0; i < options.count; ++i) {
    threads_.emplace_back([this, i] { One(*this, i).run(); });
  }
}

void Clients::stop() {
  stopped_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace piracema::testing
