#include "coll/mpi/probe/probe_thread.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/no_signals.h"

namespace piracema::coll::mpi {

ProbeThread::ProbeThread(Fd socket, Rank me, const std::vector<sockaddr_in>& peers,
                         std::uint64_t token, Emulator* emulator)
    : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      me_(me),
      socket_(std::move(socket), peers, emulator),
      prober_(me, static_cast<Rank>(peers.size()), token, token ^ me),
      post_(me, static_cast<Rank>(peers.size()), token),
      detours_(static_cast<Rank>(peers.size())) {
  const NoSignals no_signals;
  thread_ = std::thread([this] { run(); });
}

ProbeThread::~ProbeThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake();
  thread_.join();
}

void ProbeThread::attach(std::uint64_t number, Guest& guest) {
  const std::lock_guard lock(mutex_);
  guests_[number] = &guest;
}
void ProbeThread::detach(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  guests_.erase(number);
}
void ProbeThread::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
}

void ProbeThread::on_transfer(Rank from, double megabyte) {
  const std::lock_guard lock(mutex_);
  prober_.on_transfer(from, megabyte);
}

LinkTable ProbeThread::links(std::size_t* measured) const {
  const std::lock_guard lock(mutex_);
  return prober_.map().table(measured);
}
std::uint64_t ProbeThread::version() const {
  const std::lock_guard lock(mutex_);
  return prober_.map().version();
}
std::uint64_t ProbeThread::packets_sent() const {
  const std::lock_guard lock(mutex_);
  return prober_.packets_sent();
}
Forecaster ProbeThread::forecaster(Rank peer) const {
  const std::lock_guard lock(mutex_);
  return prober_.map().forecaster(peer);
}

ProbeThread::OwnLink ProbeThread::own_link(Rank peer) const {
  const std::lock_guard lock(mutex_);
  const LinkMap& map = prober_.map();
  OwnLink link{.latency = map.known_latency(me_, peer),
               .megabyte_to = map.row(peer).megabyte[me_],
               .megabyte_from = map.row(me_).megabyte[peer],
               .answered = prober_.answered(peer)};
  if (map.forecaster(peer).knows()) link.error = map.forecaster(peer).error();
  return link;
}
double ProbeThread::known_latency(Rank a, Rank b) const {
  const std::lock_guard lock(mutex_);
  return prober_.map().known_latency(a, b);
}

std::vector<double> ProbeThread::known_latencies(Rank a) const {
  const std::lock_guard lock(mutex_);
  std::vector<double> row(a);
  for (Rank b = 0; b < a; ++b) row[b] = prober_.map().known_latency(a, b);
  return row;
}

void ProbeThread::run() {
  while (true) {
    const Time next = step();
    if (next == Time::min()) return;
    // An hour is as good as never.
    const Time wait = std::clamp(next - now(), Time{}, Time{std::chrono::hours(1)});
    const timespec timeout{static_cast<time_t>(wait.count() / 1'000'000'000),
                           static_cast<long>(wait.count() % 1'000'000'000)};
    pollfd ready[2]{{socket_.handle(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (::ppoll(ready, 2, &timeout, nullptr) <= 0) continue;
    std::uint64_t woken = 0;
    [[maybe_unused]] const auto read = ::read(wake_.get(), &woken, sizeof woken);
    while (const auto bytes = socket_.receive()) {
      const std::lock_guard lock(mutex_);
      on_datagram(*bytes);
    }
  }
}

Time ProbeThread::step() {
  const std::lock_guard lock(mutex_);
  if (stopping_) return Time::min();
  socket_.send(prober_.tick(now()));
  while (const auto bytes = socket_.held_until(now())) on_datagram(*bytes);
  Time next = std::min(prober_.next(), socket_.next_held());
  if (!guests_.empty()) detours_.update(prober_.map(), me_);
  for (const auto& [number, guest] : guests_) {
    for (const auto& [to, bytes] : guest->due(now(), prober_.map(), detours_.last())) {
      socket_.send({{detours_.last().first(to), post_.wrap(to, number, bytes)}});
    }
    next = std::min(next, guest->next());
  }
  return next;
}

// From a prober, or somebody's post, which may be for another rank.
void ProbeThread::on_datagram(std::span<const char> bytes) {
  auto letter = post_.open(bytes);
  if (!letter) {
    socket_.send(prober_.on_packet(now(), bytes));
  } else if (letter->to != me_) {
    if (auto on = post_.pass_on(bytes)) {
      socket_.send({{detours_.last().first(letter->to), *std::move(on)}});
    }
  } else if (const auto guest = guests_.find(letter->guest); guest != guests_.end()) {
    guest->second->on_packet(letter->from, letter->bytes);
  }
}

}  // namespace piracema::coll::mpi
