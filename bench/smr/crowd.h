#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "bench/smr/cluster.h"
#include "bench/smr/probe.h"
#include "smr/client/client_engine.h"

namespace piracema::bench {

/// Clients of an SmrCluster in a closed loop, all on this thread: who was answered asks again.
class Crowd {
 public:
  struct Question {
    smr::Kind kind = smr::Kind::ordered;
    std::uint32_t group = 0;
    Buffer operation;
  };
  struct Options {
    std::size_t clients = 1;
    /// Each client is a session of its own; but for the most that one may have under way they
    /// share a few connections.
    bool multiplexed = false;
    /// What is asked next, by whomever.
    std::function<Question()> next;
  };
  Crowd(const smr::Configuration& configuration, Options options);

  /// All ask; returns when there are as many answers as clients.
  void begin();
  void run_until(Time end);
  /// The longest time in which nobody was answered, from `begin_gaps` on.
  void begin_gaps();
  Time longest_gap() const;

  smr::ClientEngine& first() { return *engines_.front(); }

  /// Of each answer, in microseconds; and how many of them are errors.
  std::vector<std::uint32_t> times;
  std::size_t errors = 0;

 private:
  void turn();
  void ask(std::size_t client);

  const Options options_;
  net::Poller poller_;
  smr::FlushList flush_list_;
  std::vector<std::unique_ptr<smr::ClientEngine>> engines_;
  Time answered_{}, longest_gap_{};
};

/// What a crowd that has begun is answered in so many seconds, after others to warm up.
Rate measure(Crowd& crowd, const SmrCluster& cluster, double warmup_s, double seconds);

}  // namespace piracema::bench
