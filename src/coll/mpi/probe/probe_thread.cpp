#include "coll/mpi/probe/probe_thread.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/no_signals.h"

namespace piracema::coll::mpi {

ProbeThread::ProbeThread(Fd socket, Rank me, std::vector<sockaddr_in> peers, std::uint64_t token,
                         Emulator* emulator)
    : socket_(std::move(socket)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      me_(me),
      peers_(std::move(peers)),
      emulator_(emulator),
      prober_(me, static_cast<Rank>(peers_.size()), token, token ^ me),
      post_(me, static_cast<Rank>(peers_.size()), token),
      detours_(static_cast<Rank>(peers_.size())) {
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
    pollfd ready[2]{{socket_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (::ppoll(ready, 2, &timeout, nullptr) <= 0) continue;
    std::uint64_t woken = 0;
    [[maybe_unused]] const auto read = ::read(wake_.get(), &woken, sizeof woken);
    receive();
  }
}

Time ProbeThread::step() {
  const std::lock_guard lock(mutex_);
  if (stopping_) return Time::min();
  send(prober_.tick(now()));
  while (!held_.empty() && held_.top().visible_at <= now()) {
    const std::string bytes = held_.top().bytes;
    held_.pop();
    on_datagram(bytes);
  }
  Time next = prober_.next();
  if (!guests_.empty()) find_detours();
  for (const auto& [number, guest] : guests_) {
    for (const auto& [to, bytes] : guest->due(now(), prober_.map(), detours_)) {
      send({{detours_.first(to), post_.wrap(to, number, bytes)}});
    }
    next = std::min(next, guest->next());
  }
  if (!held_.empty()) next = std::min(next, held_.top().visible_at);
  return next;
}

}  // namespace piracema::coll::mpi
