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
      stop_(::eventfd(0, EFD_CLOEXEC)),
      peers_(std::move(peers)),
      emulator_(emulator),
      prober_(me, static_cast<Rank>(peers_.size()), token, token ^ me) {
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ProbeThread::~ProbeThread() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
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
    Time next;
    {
      const std::lock_guard lock(mutex_);
      send(prober_.tick(now()));
      while (!held_.empty() && held_.top().visible_at <= now()) {
        const std::string bytes = held_.top().bytes;
        held_.pop();
        send(prober_.on_packet(now(), bytes));
      }
      next = prober_.next();
      if (!held_.empty()) next = std::min(next, held_.top().visible_at);
    }
    const Time wait = std::max(next - now(), Time{});
    const timespec timeout{static_cast<time_t>(wait.count() / 1'000'000'000),
                           static_cast<long>(wait.count() % 1'000'000'000)};
    pollfd ready[2]{{socket_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::ppoll(ready, 2, &timeout, nullptr) <= 0) continue;
    if (ready[1].revents != 0) return;
    receive();
  }
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
      send(prober_.on_packet(now(), bytes));
    }
  }
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
