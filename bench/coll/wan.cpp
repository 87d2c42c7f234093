// A wide-area network between network namespaces of this machine, for real TCP: a TUN device in
// each, and this program in between, which holds every packet back for as long as its link takes.
// The kernel's netem does the same where it is there.
//
//   bench_coll_wan LINKS NAMESPACE...
//
// Wants root. Host i (from 0) has the address 10.89.0.(i + 1) on the device wan0, which whoever
// starts this gives it. LINKS has the form of the emulator's file and may change. Prints "ready".
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <queue>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "topology/measure/delays.h"

namespace {

using namespace piracema;
using coll::LinkTable;
using coll::Rank;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "wan: %s: %s\n", why.c_str(), std::strerror(errno));
  std::exit(1);
}

/// The TUN device of a namespace; it goes when this program ends.
Fd device_in(const std::string& name) {
  const Fd space(::open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  if (space.get() < 0 || ::setns(space.get(), CLONE_NEWNET) != 0) give_up("namespace " + name);
  Fd device(::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  ifreq request{};
  std::strcpy(request.ifr_name, "wan0");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (device.get() < 0 || ::ioctl(device.get(), TUNSETIFF, &request) != 0) give_up("/dev/net/tun");
  return device;
}

struct Packet {
  Time due{};
  std::uint64_t number = 0;
  Rank to = 0;
  std::string bytes;
  /// The one that is due first is on top; equal ones stay in order.
  bool operator<(const Packet& other) const {
    return std::pair(due, number) > std::pair(other.due, other.number);
  }
};

class Wan {
 public:
  Wan(std::string links, std::vector<Fd> devices)
      : path_(std::move(links)),
        devices_(std::move(devices)),
        links_(static_cast<Rank>(devices_.size())),
        free_at_(devices_.size() * devices_.size()) {}

  [[noreturn]] void run() {
    std::vector<pollfd> ready;
    for (const Fd& device : devices_) ready.push_back({device.get(), POLLIN, 0});
    while (true) {
      refresh();
      const Time now_ = now();
      while (!held_.empty() && held_.top().due <= now_) {
        const Packet& packet = held_.top();
        // A device that is full loses it, as links do.
        [[maybe_unused]] const auto written =
            ::write(devices_[packet.to].get(), packet.bytes.data(), packet.bytes.size());
        held_bytes_ -= packet.bytes.size();
        held_.pop();
      }
      Time wait = look_every;
      if (!held_.empty()) wait = std::clamp(held_.top().due - now(), Time{}, look_every);
      const timespec timeout{0, static_cast<long>(wait.count())};
      if (::ppoll(ready.data(), ready.size(), &timeout, nullptr) <= 0) continue;
      for (Rank from = 0; from < devices_.size(); ++from) {
        if (ready[from].revents != 0) take(from);
      }
    }
  }

 private:
  /// Until the links are looked at again.
  static constexpr Time look_every = std::chrono::milliseconds(50);
  static constexpr std::size_t held_bytes_max = 256 << 20;

  void take(Rank from) {
    std::array<char, 65'536> buffer;
    while (true) {
      const ssize_t length = ::read(devices_[from].get(), buffer.data(), buffer.size());
      if (length < 20) return;
      // IPv4 alone; the last byte of its destination says which host.
      const auto last = static_cast<unsigned char>(buffer[19]);
      if (buffer[0] >> 4 != 4 || last < 1 || last > devices_.size()) continue;
      const auto bytes = static_cast<std::size_t>(length);
      if (held_bytes_ + bytes > held_bytes_max) continue;
      const Rank to = last - 1u;
      const coll::Link& link = links_.at(from, to);
      Time& free_at = free_at_[from * devices_.size() + to];
      free_at = std::max(free_at, now()) + to_time(link.per_byte * static_cast<double>(bytes));
      held_.push({free_at + to_time(link.latency), ++number_, to, {buffer.data(), bytes}});
      held_bytes_ += bytes;
    }
  }

  void refresh() {
    if (now() < refreshed_ + look_every) return;
    refreshed_ = now();
    struct stat status {};
    if (::stat(path_.c_str(), &status) != 0) return;
    const auto changed =
        Time(std::chrono::seconds(status.st_mtim.tv_sec)) + Time(status.st_mtim.tv_nsec);
    if (changed == changed_) return;
    changed_ = changed;
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    if (auto links = coll::parse_delays(text.str(), links_.size())) links_ = *std::move(links);
  }

  static Time to_time(double seconds) {
    return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
  }

  const std::string path_;
  const std::vector<Fd> devices_;
  LinkTable links_;
  std::vector<Time> free_at_;
  std::priority_queue<Packet> held_;
  std::size_t held_bytes_ = 0;
  std::uint64_t number_ = 0;
  Time refreshed_{}, changed_{};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 255) {
    std::fprintf(stderr, "want LINKS NAMESPACE NAMESPACE...\n");
    return 2;
  }
  std::vector<Fd> devices;
  for (int i = 2; i < argc; ++i) devices.push_back(device_in(argv[i]));
  // Late packets are what a busy machine has most of; where it is not allowed they come late.
  const sched_param first{.sched_priority = 1};
  ::sched_setscheduler(0, SCHED_FIFO, &first);
  std::printf("ready\n");
  std::fflush(stdout);
  Wan(argv[1], std::move(devices)).run();
}
