#include "coll/mpi/probe_thread.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"

namespace piracema::coll::mpi {

namespace {
/// In front of each packet: when it may be seen (emulator), else 0.
constexpr std::size_t stamp_bytes = sizeof(std::int64_t);
}  // namespace

Result<Fd> ProbeThread::open(sockaddr_in& address) {
  Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return Error{Errc::io, with_errno("socket for probes")};
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t length = sizeof any;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&any), &length) != 0) {
    return Error{Errc::io, with_errno("socket for probes")};
  }
  address.sin_port = any.sin_port;
  return socket;
}

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
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
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

void ProbeThread::receive() {
  std::array<char, 65'536> buffer;
  while (true) {
    const ssize_t length = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (length < static_cast<ssize_t>(stamp_bytes)) return;
    std::int64_t stamp = 0;
    std::memcpy(&stamp, buffer.data(), stamp_bytes);
    const std::span<const char> bytes(buffer.data() + stamp_bytes,
                                      static_cast<std::size_t>(length) - stamp_bytes);
    const std::lock_guard lock(mutex_);
    if (emulator_ && Time(stamp) > now()) {
      held_.push({Time(stamp), std::string(bytes.begin(), bytes.end())});
    } else {
      on_datagram(bytes);
    }
  }
}

// From a prober, or somebody's post, which may be for another rank.
void ProbeThread::on_datagram(std::span<const char> bytes) {
  auto letter = post_.open(bytes);
  if (!letter) {
    send(prober_.on_packet(now(), bytes));
  } else if (letter->to != me_) {
    if (auto on = post_.pass_on(bytes)) send({{detours_.first(letter->to), *std::move(on)}});
  } else if (const auto guest = guests_.find(letter->guest); guest != guests_.end()) {
    guest->second->on_packet(letter->from, letter->bytes);
  }
}

// At most 2 % of the time is spent on it.
void ProbeThread::find_detours() {
  const std::uint64_t version = prober_.map().version();
  const Time began = now();
  if (version == detours_version_ || began - detours_at_ < 50 * detours_took_) return;
  detours_ = Detours(prober_.map().table(), me_);
  detours_version_ = version;
  detours_at_ = now();
  detours_took_ = detours_at_ - began;
}

void ProbeThread::send(const std::vector<Packet>& packets) {
  for (const Packet& packet : packets) {
    const std::int64_t stamp =
        emulator_ ? emulator_->packet_visible_at(packet.to).count() : std::int64_t{0};
    std::string bytes(reinterpret_cast<const char*>(&stamp), stamp_bytes);
    bytes += packet.bytes;
    // What cannot be sent is lost, as packets are.
    ::sendto(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&peers_[packet.to]), sizeof(sockaddr_in));
  }
}

}  // namespace piracema::coll::mpi
