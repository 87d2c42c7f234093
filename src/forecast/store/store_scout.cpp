#include "forecast/store/store_scout.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <ctime>

#include "forecast/store/scout_process.h"
#include "os/bystander.h"
#include "wire/fields.h"

namespace piracema::ckpt {

namespace {

double wall_clock() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// False if it is lost.
bool send_order(const Fd& socket, const ScoutOrder& order) {
  const Buffer bytes = wire::encode(order);
  return ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

}  // namespace

Result<StoreScout> StoreScout::start(const std::string& place) {
  auto socket = start_bystander([&place](Fd there) { run_scout(std::move(there), place); });
  if (!socket) return socket.error();
  return StoreScout(*std::move(socket));
}

Result<StoreLook> StoreScout::receive() {
  Buffer room;
  room.resize(scout_message_bytes_max);
  const ssize_t bytes = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
    return Error{Errc::not_found, "no look yet"};
  if (bytes <= 0) return Error{Errc::lost, "the scout has ended"};
  const auto look = wire::decode<StoreLook>(Bytes(room).first(static_cast<std::size_t>(bytes)));
  if (look) {
    remembered_ = look->remembered;
    samples_ = look->samples;
  }
  return look;
}

void StoreScout::announce(double from, double to, double bytes, bool soon) {
  const double wall = wall_clock();
  send_order(socket_, {.from = wall + from, .to = wall + to, .bytes = bytes, .soon = soon});
}

void StoreScout::remember(const PastDump& dump) {
  if (send_order(socket_, {.kind = ScoutOrderKind::remember, .dump = dump})) remember_ += 1;
}

void StoreScout::sample(const DumpFeatures& features) {
  const PastDump known{features, 0};
  if (send_order(socket_, {.kind = ScoutOrderKind::sample, .dump = known})) asked_samples_ += 1;
}

void StoreScout::finish(Time limit) {
  const Time end = now() + limit;
  while (remembered_ < remember_ && now() < end) {
    pollfd wait{socket_.get(), POLLIN, 0};
    ::poll(&wait, 1, static_cast<int>((end - now()) / std::chrono::milliseconds(1)) + 1);
    if (const auto look = receive(); !look && look.error().code == Errc::lost) return;
  }
}

}  // namespace piracema::ckpt
