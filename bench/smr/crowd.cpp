#include "bench/smr/crowd.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

namespace piracema::bench {

Crowd::Crowd(const smr::Configuration& configuration, Options options)
    : options_(std::move(options)) {
  const std::size_t engines = options_.multiplexed ? 1 : options_.clients;
  for (std::size_t i = 0; i < engines; ++i) {
    engines_.push_back(std::make_unique<smr::ClientEngine>(poller_, flush_list_, configuration,
                                                           i + 1, SmrCluster::client_key(i + 1),
                                                           smr::ClientEngine::Retry{}));
  }
}

void Crowd::begin() {
  for (std::size_t i = 0; i < options_.clients; ++i) ask(i);
  while (times.size() < options_.clients) turn();
}

void Crowd::run_until(Time end) {
  while (now() < end) turn();
}

void Crowd::turn() {
  poller_.run_once(std::chrono::milliseconds(5));
  flush_list_.flush();
}

void Crowd::begin_gaps() {
  longest_gap_ = {};
  answered_ = now();
}

Time Crowd::longest_gap() const { return std::max(longest_gap_, now() - answered_); }

void Crowd::ask(std::size_t client) {
  const Time since = now();
  Question question = options_.next();
  engines_[client % engines_.size()]->order(
      question.kind, question.group, std::move(question.operation),
      since + std::chrono::seconds(10), [this, client, since](const Result<Buffer>& result) {
        longest_gap_ = std::max(longest_gap_, now() - answered_);
        answered_ = now();
        times.push_back(static_cast<std::uint32_t>((answered_ - since).count() / 1'000));
        if (!result) errors += 1;
        ask(client);
      });
}

Rate measure(Crowd& crowd, const SmrCluster& cluster, double warmup_s, double seconds) {
  const auto time_of = [](double number) {
    return std::chrono::duration_cast<Time>(std::chrono::duration<double>(number));
  };
  crowd.run_until(now() + time_of(warmup_s));
  crowd.times.clear();
  const double cpu = cluster.cpu() + cpu_seconds(::getpid());
  const Time begin = now();
  crowd.run_until(begin + time_of(seconds));
  const double took = std::chrono::duration<double>(now() - begin).count();
  const double used = cluster.cpu() + cpu_seconds(::getpid()) - cpu;
  const auto count = static_cast<double>(crowd.times.size());
  Rate rate;
  rate.operations_per_second = count / took;
  rate.cpu_us = used / std::max(count, 1.0) * 1e6;
  rate.mean_us =
      std::accumulate(crowd.times.begin(), crowd.times.end(), 0.0) / std::max(count, 1.0);
  set_percentiles(rate, crowd.times);
  return rate;
}

}  // namespace piracema::bench
