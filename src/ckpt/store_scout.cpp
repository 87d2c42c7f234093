#include "ckpt/store_scout.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"
#include "ckpt/bystander.h"
#include "ckpt/meant_dumps.h"
#include "wire/fields.h"

namespace piracema::ckpt {

namespace {

constexpr std::size_t probe_bytes = std::size_t{256} << 10, message_bytes_max = 4096;
constexpr Time look_soon = std::chrono::seconds(1);

struct ScoutOrder {
  bool is_dump = false;
  PastDump dump;
  /// Else what is meant: seconds since 1970.
  double from = 0, to = 0, bytes = 0;
  bool soon = false;
  auto fields() { return std::tie(is_dump, dump, from, to, bytes, soon); }
};

double wall_clock() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  std::string plain(name.data());
  std::replace_if(
      plain.begin(), plain.end(),
      [](char c) {
        return !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
      },
      '-');
  return plain;
}

/// The process itself.
class Scout {
 public:
  Scout(Fd socket, const std::string& place)
      : socket_(std::move(socket)),
        place_(place),
        meant_(place, host_name()),
        probe_path_(concat(place, "/probe-", host_name(), ".", ::getpid())),
        probe_text_(probe_bytes, 'p') {}

  void run();

 private:
  bool hear();
  void look();
  double probe() const;
  void tell(StoreLook look) const;

  Fd socket_;
  const std::string place_;
  MeantDumps meant_;
  const std::string probe_path_, probe_text_;
  /// What is meant.
  ScoutOrder plan_;
  StoreLook last_;
};

// A dump allocates and writes a journal, too: so does this.
double Scout::probe() const {
  const Fd file(::open(probe_path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const Time begin = now();
  const auto bytes = static_cast<ssize_t>(probe_text_.size());
  if (::pwrite(file.get(), probe_text_.data(), probe_text_.size(), 0) != bytes) return 0;
  if (::fdatasync(file.get()) != 0) return 0;
  return std::chrono::duration<double>(now() - begin).count();
}

void Scout::look() {
  StoreLook look{.remembered = last_.remembered};
  if (plan_.to > 0) {
    meant_.say(plan_.from, plan_.to, plan_.bytes);
    const auto others = meant_.others();
    look.writers = others.writers;
    look.hosts = others.hosts;
    look.bytes = others.bytes;
  }
  look.probe = last_.probe;
  look.probing = true;
  tell(look);
  look.probe = probe();
  look.probing = false;
  last_ = look;
  tell(look);
}

void Scout::tell(StoreLook look) const {
  const Buffer bytes = wire::encode(look);
  (void)::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// False when the keeper has gone.
bool Scout::hear() {
  Buffer room;
  room.resize(message_bytes_max);
  const ssize_t bytes = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (bytes < 0) return errno == EAGAIN || errno == EINTR;
  if (bytes == 0) return false;
  const auto order = wire::decode<ScoutOrder>(Bytes(room).first(static_cast<std::size_t>(bytes)));
  if (!order) return false;
  if (!order->is_dump) {
    plan_ = *order;
    return true;
  }
  // What cannot be remembered is forgotten.
  (void)add_past_dump(place_, order->dump);
  last_.remembered += 1;
  tell(last_);
  return true;
}

void Scout::run() {
  Time next{};
  for (;;) {
    if (now() >= next) {
      look();
      next = now() + (plan_.soon ? look_soon : look_interval);
    }
    pollfd wait{socket_.get(), POLLIN, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now()).count();
    if (::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(0, left))) > 0 && !hear()) break;
  }
  meant_.take_back();
  ::unlink(probe_path_.c_str());
}

}  // namespace

Result<StoreScout> StoreScout::start(const std::string& place) {
  auto socket = start_bystander([&place](Fd there) { Scout(std::move(there), place).run(); });
  if (!socket) return socket.error();
  return StoreScout(*std::move(socket));
}

Result<StoreLook> StoreScout::receive() {
  Buffer room;
  room.resize(message_bytes_max);
  const ssize_t bytes = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
    return Error{Errc::not_found, "no look yet"};
  if (bytes <= 0) return Error{Errc::lost, "the scout has ended"};
  const auto look = wire::decode<StoreLook>(Bytes(room).first(static_cast<std::size_t>(bytes)));
  if (look) remembered_ = look->remembered;
  return look;
}

void StoreScout::announce(double from, double to, double bytes, bool soon) {
  const double wall = wall_clock();
  const Buffer order =
      wire::encode(ScoutOrder{.from = wall + from, .to = wall + to, .bytes = bytes, .soon = soon});
  (void)::send(socket_.get(), order.data(), order.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void StoreScout::remember(const PastDump& dump) {
  const Buffer order = wire::encode(ScoutOrder{.is_dump = true, .dump = dump});
  const auto sent = ::send(socket_.get(), order.data(), order.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0) remember_ += 1;
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
