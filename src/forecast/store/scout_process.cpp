#include "forecast/store/scout_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "forecast/dump/meant_dumps.h"
#include "forecast/store/store_sample.h"
#include "forecast/store/store_scout.h"
#include "wire/fields.h"

namespace piracema::ckpt {

namespace {

constexpr std::size_t probe_bytes = std::size_t{256} << 10;
constexpr Time look_soon = std::chrono::seconds(1);
constexpr std::size_t news_max = 24;

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

// Tells two dumps apart, whoever made them.
std::pair<double, double> key_of(const PastDump& dump) { return {dump.features.at, dump.seconds}; }

/// The process itself.
class Scout {
 public:
  Scout(Fd socket, const std::string& place)
      : socket_(std::move(socket)),
        place_(place),
        meant_(place, host_name()),
        probe_path_(concat(place, "/probe-", host_name(), ".", ::getpid())),
        sample_name_(concat("sample-", host_name(), ".", ::getpid())),
        probe_text_(probe_bytes, 'p') {}

  void run();

 private:
  bool hear();
  void look();
  void remember(const PastDump& dump);
  void sample(PastDump dump);
  void tell_sampled(std::vector<PastDump> news, bool ok);
  std::vector<PastDump> heard_from_others();
  bool is_wanted() const;
  double probe() const;
  void tell(const StoreLook& look) const;

  Fd socket_;
  const std::string place_;
  MeantDumps meant_;
  const std::string probe_path_, sample_name_, probe_text_;
  /// What is meant.
  ScoutOrder plan_;
  StoreLook last_;
  /// When those of the record were that our keeper has learnt from, and what they took.
  std::set<std::pair<double, double>> known_;
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
  StoreLook look{.remembered = last_.remembered,
                 .samples = last_.samples,
                 .sample_refused = last_.sample_refused,
                 .news = {}};
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

void Scout::tell(const StoreLook& look) const {
  const Buffer bytes = wire::encode(look);
  (void)::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// False when the keeper has gone.
bool Scout::hear() {
  Buffer room;
  room.resize(scout_message_bytes_max);
  const ssize_t bytes = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (bytes < 0) return errno == EAGAIN || errno == EINTR;
  if (bytes == 0) return false;
  const auto order = wire::decode<ScoutOrder>(Bytes(room).first(static_cast<std::size_t>(bytes)));
  if (!order) return false;
  switch (order->kind) {
    case ScoutOrderKind::announce:
      plan_ = *order;
      return true;
    case ScoutOrderKind::remember:
      remember(order->dump);
      last_.remembered += 1;
      break;
    case ScoutOrderKind::sample:
      sample(order->dump);
      return true;
  }
  tell(last_);
  return true;
}

// What cannot be remembered is forgotten.
void Scout::remember(const PastDump& dump) {
  known_.insert(key_of(dump));
  (void)add_past_dump(place_, dump);
}

// Those that our keeper has not learnt from; the newest, as many as a message holds.
std::vector<PastDump> Scout::heard_from_others() {
  std::vector<PastDump> news;
  const auto past = read_past_dumps(place_);
  if (!past) return news;
  for (const PastDump& one : *past) {
    if (known_.insert(key_of(one)).second) news.push_back(one);
  }
  if (news.size() > news_max) {
    news.erase(news.begin(), news.end() - static_cast<std::ptrdiff_t>(news_max));
  }
  return news;
}

// One at a time writes a sample, and what it saw is everybody's.
void Scout::sample(PastDump dump) {
  const Fd lock(::open((place_ + "/sample-lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock) ::flock(lock.get(), LOCK_EX);
  auto news = heard_from_others();
  const auto is_sample = [](const PastDump& one) { return one.features.sample > 0; };
  if (std::any_of(news.begin(), news.end(), is_sample)) return tell_sampled(std::move(news), true);
  const auto seconds =
      write_sample(place_, sample_name_, static_cast<std::uint64_t>(dump.features.bytes),
                   [this] { return is_wanted(); });
  if (seconds) {
    dump.seconds = *seconds;
    news.push_back(dump);
  }
  // To remember it takes a store that is busy longer than to write it.
  tell_sampled(std::move(news), seconds.ok());
  if (seconds) remember(dump);
}

void Scout::tell_sampled(std::vector<PastDump> news, bool ok) {
  last_.samples += 1;
  last_.sample_refused = !ok;
  last_.news = std::move(news);
  tell(last_);
  last_.news.clear();
}

// Until our keeper has gone.
bool Scout::is_wanted() const {
  pollfd look{socket_.get(), POLLRDHUP, 0};
  return ::poll(&look, 1, 0) == 0 || (look.revents & (POLLHUP | POLLRDHUP)) == 0;
}

void Scout::run() {
  (void)heard_from_others();
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

void run_scout(Fd socket, const std::string& place) { Scout(std::move(socket), place).run(); }

}  // namespace piracema::ckpt
