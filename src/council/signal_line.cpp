#include "council/signal_line.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>
#include <utility>

#include "base/text.h"

namespace piracema::council {

namespace {
constexpr std::string_view is_signal = "signal ";
// What is no line by then is none of ours.
constexpr std::size_t signal_line_max = 256;
}  // namespace

std::string signal_line(const Signalled& signalled) {
  return concat(is_signal, signalled.number, " ", signalled.id, "\n");
}

std::optional<Signalled> signal_of(std::string_view line) {
  if (!line.starts_with(is_signal)) return std::nullopt;
  std::istringstream in(std::string(line.substr(is_signal.size())));
  Signalled signalled;
  std::string more;
  if (!(in >> signalled.number >> signalled.id) || in >> more) return std::nullopt;
  return signalled;
}

SignalLine::SignalLine(Fd orders, std::function<void(const Signalled&)> take)
    : orders_(std::move(orders)), take_(std::move(take)) {
  poller_.watch(orders_.get(), EPOLLIN, [this](std::uint32_t) { read(); });
  thread_ = std::thread([this] { poller_.run(); });
}

SignalLine::~SignalLine() {
  poller_.stop();
  thread_.join();
  poller_.forget(orders_.get());
}

void SignalLine::read() {
  std::array<char, signal_line_max> some;
  const ssize_t count = ::read(orders_.get(), some.data(), some.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count <= 0) return poller_.forget(orders_.get());
  heard_.append(some.data(), static_cast<std::size_t>(count));
  for (std::size_t end = 0; (end = heard_.find('\n')) != std::string::npos;) {
    if (const auto signalled = signal_of(std::string_view(heard_).substr(0, end))) {
      take_(*signalled);
    }
    heard_.erase(0, end + 1);
  }
  if (heard_.size() > signal_line_max) heard_.clear();
}

}  // namespace piracema::council
