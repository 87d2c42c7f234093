#include "cluster/smr/linear/lease_holders.h"

#include "base/ensure.h"

namespace piracema::testing {

namespace kv = smr::kv;

namespace {

using Kind = KeyModel::Kind;
using std::chrono::milliseconds;

/// What clocks of one machine may differ by.
constexpr Time clocks_differ = milliseconds(5);

}  // namespace

class LeaseHolders::One {
 public:
  One(LeaseHolders& all, std::uint64_t number, std::uint64_t seed)
      : all_(all), recorder_(*all.place_.recorder), number_(number), random_(seed) {
    auto client = smr::Client::open(
        all.place_.configuration,
        {.id = 1, .key_file = all.place_.key_file, .timeout = std::chrono::seconds(3)});
    ENSURE(client.ok());
    client_ = *std::move(client);
  }

  void run() {
    while (!all_.stopped_) {
      key_ = all_.first_ + random_.below(recorder_.keys() - all_.first_);
      ttl_ = milliseconds(300 + random_.below(900));
      const Time asked = now();
      const auto grant = ask(kv::encode(kv::Grant{static_cast<std::uint64_t>(ttl_.count())}));
      if (grant && grant->status == kv::Status::ok) {
        lease_ = grant->lease;
        try_to_hold(asked);
      }
      std::this_thread::sleep_for(milliseconds(random_.below(100)));
    }
  }

 private:
  std::optional<kv::Reply> ask(const Buffer& operation, bool reads = false) {
    const Time call = now();
    const auto answer =
        reads ? client_->invoke_unordered(operation) : client_->invoke_ordered(operation);
    if (!answer) return std::nullopt;
    all_.place_.service->answered(call);
    const auto reply = kv::decode_reply(*answer);
    if (!reply) return std::nullopt;
    return *reply;
  }
  std::string name() const { return "lock-" + std::to_string(key_); }

  void try_to_hold(Time asked) {
    value_ = recorder_.new_value();
    const auto number = recorder_.called(key_, number_, {Kind::create, value_});
    end_ = recorder_.expects(key_, {Kind::remove_if, 0, value_}, asked + ttl_ - clocks_differ);
    const auto reply = ask(kv::encode(
        kv::Put{.key = name(), .value = std::to_string(value_), .expected = 0, .lease = lease_}));
    if (!reply) {
      recorder_.lost(key_, number);
      recorder_.lost(key_, end_);
      return;
    }
    // A lease that has ended before is as if nobody had asked.
    if (reply->status == kv::Status::no_lease) {
      recorder_.cancel(key_, number);
      recorder_.cancel(key_, end_);
      return;
    }
    const bool done = reply->status == kv::Status::ok;
    recorder_.answered(key_, number, {done});
    if (!done) {
      recorder_.cancel(key_, end_);
      read();
      return;
    }
    hold(reply->entries.empty() ? 0 : reply->entries[0].changed);
  }

  void hold(kv::Index version) {
    Time heard = now();
    for (std::uint64_t left = random_.below(5); left > 0 && !all_.stopped_; --left) {
      std::this_thread::sleep_for(ttl_ / 3);
      const Time asked = now();
      const auto kept = ask(kv::encode(kv::KeepAlive{lease_}));
      if (!kept || kept->status != kv::Status::ok) break;
      recorder_.put_off(key_, end_, asked + ttl_ - clocks_differ);
      heard = now();
      read();
    }
    const bool gives_back = random_.chance(0.4) && give_back(version);
    recorder_.lost(key_, end_);
    if (!gives_back) watch_it_end(heard + ttl_);
    const std::lock_guard lock(all_.mutex_);
    all_.figures_.held += 1;
    (gives_back ? all_.figures_.given_back : all_.figures_.left_to_end) += 1;
  }

  bool give_back(kv::Index version) {
    const auto number = recorder_.called(key_, number_, {Kind::remove_if, 0, value_});
    const auto reply = ask(kv::encode(kv::Remove{.key = name(), .expected = version}));
    if (!reply) {
      recorder_.lost(key_, number);
      return false;
    }
    recorder_.answered(key_, number, {reply->status == kv::Status::ok});
    return reply->status == kv::Status::ok;
  }

  // What the key holds now; nullopt if nobody says.
  std::optional<std::uint64_t> read() {
    const auto number = recorder_.called(key_, number_, {Kind::get});
    const auto reply = ask(kv::encode(kv::Get{name()}), true);
    if (!reply) {
      recorder_.cancel(key_, number);
      return std::nullopt;
    }
    const bool is_there = reply->status == kv::Status::ok && !reply->entries.empty();
    const std::uint64_t seen = is_there ? number_of(reply->entries[0].value) : 0;
    recorder_.answered(key_, number, {true, seen});
    return seen;
  }

  void watch_it_end(Time end) {
    while (!all_.stopped_) {
      const Time asked = now();
      const auto seen = read();
      if (seen && *seen != value_) return;
      if (seen && asked > end) {
        const std::lock_guard lock(all_.mutex_);
        all_.figures_.outlived = std::max(all_.figures_.outlived, asked - end);
      }
      std::this_thread::sleep_for(milliseconds(20));
    }
  }

  LeaseHolders& all_;
  Recorder& recorder_;
  const std::uint64_t number_;
  Random random_;
  std::unique_ptr<smr::Client> client_;
  std::size_t key_ = 0;
  Time ttl_{};
  kv::Index lease_ = 0;
  std::uint64_t value_ = 0;
  Recorder::Number end_ = 0;
};

LeaseHolders::LeaseHolders(const ClientPlace& place, std::size_t first, std::size_t count,
                           std::uint64_t seed)
    : place_(place), first_(first) {
  for (std::size_t i = 0; i < count; ++i) {
    threads_.emplace_back([this, i, seed] { One(*this, 1'000 + i, seed * 1'000 + i).run(); });
  }
}

void LeaseHolders::stop() {
  stopped_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

LeaseHolders::Figures LeaseHolders::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

}  // namespace piracema::testing
