#include "coll/mpi/probe/emulator.h"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "topology/measure/delays.h"

namespace piracema::coll::mpi {

namespace {

Result<LinkTable> read_delays(const std::string& path, Rank size) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Error{Errc::config, with_errno("cannot read the links in " + path)};
  return parse_delays(text.str(), size);
}

}  // namespace

Result<Done> Emulator::check(const std::string& path, Rank size) {
  auto links = read_delays(path, size);
  if (!links) return links.error();
  return Done{};
}

Emulator::Emulator(std::string path, Rank me, Rank size)
    : path_(std::move(path)), me_(me), links_(size) {
  refresh();
}

void Emulator::refresh() {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) return;
  if (status.st_mtim.tv_sec == changed_.tv_sec && status.st_mtim.tv_nsec == changed_.tv_nsec) {
    return;
  }
  changed_ = status.st_mtim;
  if (auto links = read_delays(path_, links_.size())) links_ = *std::move(links);
}

Time Emulator::visible_at(Rank to, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  refresh();
  if (to == me_) return now();
  const Link& link = links_.at(me_, to);
  free_at_ = std::max(free_at_, now()) + to_time(link.per_byte * static_cast<double>(bytes));
  return free_at_ + to_time(link.latency);
}

Time Emulator::packet_visible_at(Rank to) {
  const std::lock_guard lock(mutex_);
  refresh();
  return now() + to_time(to == me_ ? 0 : links_.at(me_, to).latency);
}

void Emulator::sleep_until(Time time) {
  const timespec until{static_cast<time_t>(time.count() / 1'000'000'000),
                       static_cast<long>(time.count() % 1'000'000'000)};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace piracema::coll::mpi
