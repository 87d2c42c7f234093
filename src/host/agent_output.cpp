#include "host/agent_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

#include "base/text.h"

namespace piracema::cluster {

namespace {
constexpr std::uint64_t under_way_max = std::uint64_t{8} << 20;
constexpr std::size_t output_piece_bytes = std::size_t{64} << 10;
}  // namespace

Result<Done> AgentOutput::open() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{Errc::io, with_errno("pipe for output")};
  in_ = Fd(ends[0]);
  out_ = Fd(ends[1]);
  ::fcntl(in_.get(), F_SETFL, O_NONBLOCK);
  watch();
  return Done{};
}

void AgentOutput::taken(std::uint64_t bytes) {
  taken_ = bytes;
  if (!watching_ && may_read()) watch();
}

void AgentOutput::drain() {
  while (!held_ && read()) {
  }
}

void AgentOutput::hold() {
  held_ = true;
  if (!std::exchange(watching_, false)) return;
  poller_.forget(in_.get());
}

void AgentOutput::go_on() {
  held_ = false;
  said_ = taken_ = 0;
  if (!watching_) watch();
}

bool AgentOutput::may_read() const { return !held_ && said_ - taken_ < under_way_max; }

void AgentOutput::watch() {
  watching_ = true;
  poller_.watch(in_.get(), EPOLLIN, [this](std::uint32_t) {
    read();
    if (may_read()) return;
    watching_ = false;
    poller_.forget(in_.get());
  });
}

bool AgentOutput::read() {
  std::string text(output_piece_bytes, '\0');
  const ssize_t count = ::read(in_.get(), text.data(), text.size());
  if (count <= 0) return false;
  text.resize(static_cast<std::size_t>(count));
  said_ += text.size();
  say_(std::move(text));
  return true;
}

}  // namespace piracema::cluster
