#include "tools/kv/doctor.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <piracema/smr/configuration.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>

#include "base/fd.h"
#include "base/text.h"
#include "net/socket/address.h"
#include "tools/failure.h"

namespace piracema::tools {

namespace {

constexpr std::size_t syncs_tried = 20;
/// What is written before each, as much as a small batch has.
constexpr std::size_t sync_bytes = 4'096;
/// With more than this a group orders few batches a second.
constexpr Time sync_most = std::chrono::milliseconds(20);
constexpr std::uint64_t room_least = 1'000'000'000;
constexpr int connect_ms = 1'000;
/// Looks there.
constexpr const char* another_place = "piracema kv doctor --directory DIR";

Time median_of(std::vector<Time> some) {
  std::ranges::sort(some);
  return some[some.size() / 2];
}

std::string human_sync(Time time) {
  const double ms = 1e3 * to_seconds(time);
  return ms < 1 ? concat(static_cast<long>(1e3 * ms), " us") : human_seconds(to_seconds(time));
}

Finding disk_finding(const ReplicaPlace& place) {
  Finding finding{.part = "kv", .what = "disk", .needed = true};
  if (!place.trouble.empty() || place.syncs.empty()) {
    finding.text = place.trouble;
    finding.fix = another_place;
    return finding;
  }
  const Time median = median_of(place.syncs);
  finding.text = concat(human_sync(median), " until a batch is on the disk of ", place.directory,
                        " (median of ", place.syncs.size(), ", the longest ",
                        human_sync(*std::ranges::max_element(place.syncs)), ")");
  finding.ok = median <= sync_most && !place.in_memory;
  // It is worth knowing, and no reason not to run.
  finding.needed = false;
  if (place.in_memory) {
    finding.text += "; it is in memory, and what a replica keeps is gone with the machine";
    finding.fix = another_place;
  } else if (!finding.ok) {
    finding.text += "; every ordered operation waits for it: want a faster disk";
    finding.fix = another_place;
  }
  return finding;
}

Finding room_finding(const ReplicaPlace& place) {
  Finding finding{.part = "kv", .what = "room", .ok = place.room >= room_least};
  finding.text = concat(human_bytes(static_cast<double>(place.room)), " free there");
  if (!finding.ok) {
    finding.text += "; a log and two checkpoints want more as the state grows";
    finding.fix = another_place;
  }
  return finding;
}

Finding port_finding(const ReplicaPlace::Port& one) {
  Finding finding{.part = "kv", .what = "port", .ok = one.answers || one.is_free};
  finding.text = concat(one.address, one.answers   ? ": somebody listens there"
                                     : one.is_free ? ": free on this host"
                                                   : concat(": ", one.trouble));
  return finding;
}

/// Waits until what was written is on the disk, some times. The file has no name, and goes at once.
Result<std::vector<Time>> time_syncs(const std::string& directory) {
  const Fd file(::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (!file) return io_error(directory, "cannot write there");
  const std::array<char, sync_bytes> some{};
  std::vector<Time> all;
  for (std::size_t i = 0; i < syncs_tried; ++i) {
    const Time before = now();
    if (::write(file.get(), some.data(), some.size()) != static_cast<ssize_t>(some.size()) ||
        ::fdatasync(file.get()) != 0) {
      return io_error(directory, "cannot write there");
    }
    all.push_back(now() - before);
  }
  return all;
}

/// Why nobody can be called there; 0: somebody listens.
int call(const net::Address& address) {
  const Fd socket(
      ::socket(address.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return errno;
  if (::connect(socket.get(), address.data(), address.size()) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd one{socket.get(), POLLOUT, 0};
  if (::poll(&one, 1, connect_ms) != 1) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

bool can_listen(const net::Address& address) {
  const Fd socket(::socket(address.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  return socket && ::bind(socket.get(), address.data(), address.size()) == 0;
}

ReplicaPlace::Port look_at(const std::string& text) {
  ReplicaPlace::Port port{.address = text};
  const auto address = net::Address::parse(text);
  if (!address) {
    port.trouble = "a name, which replicas look up when they start";
    port.answers = true;
    return port;
  }
  const int why = call(*address);
  port.answers = why == 0;
  port.is_free = !port.answers && can_listen(*address);
  if (why == ETIMEDOUT) {
    port.trouble = "no answer: its machine is away, or a firewall lets nobody through";
  } else if (why != 0) {
    errno = why;
    port.trouble = with_errno("nobody listens there");
  }
  return port;
}

ReplicaPlace look_at_place(const std::string& directory) {
  ReplicaPlace place{.directory = directory};
  struct statfs status {};
  if (::statfs(directory.c_str(), &status) != 0) {
    place.trouble = with_errno(directory);
    return place;
  }
  place.in_memory = status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
  place.room = std::uint64_t{status.f_bavail} * static_cast<std::uint64_t>(status.f_bsize);
  auto syncs = time_syncs(directory);
  if (syncs) {
    place.syncs = *std::move(syncs);
  } else {
    place.trouble = syncs.error().message;
  }
  return place;
}

}  // namespace

std::vector<Finding> judge(const ReplicaPlace& place) {
  std::vector<Finding> findings{disk_finding(place)};
  if (place.trouble.empty()) findings.push_back(room_finding(place));
  for (const ReplicaPlace::Port& one : place.ports) findings.push_back(port_finding(one));
  return findings;
}

KvDoctor::KvDoctor(CLI::App& kv) {
  doctor_ = kv.add_subcommand(
      "doctor", "Say what this machine lacks for a replica; exit code 1 if one cannot run");
  doctor_->add_option("--directory", directory_,
                      "Where the replica would keep its log; default: here");
  doctor_->add_option("--config", config_,
                      "Configuration of the group: whether its ports are open");
  doctor_->add_flag("--json", json_, "As JSON");
}

int KvDoctor::run() const {
  ReplicaPlace place = look_at_place(directory_);
  if (!config_.empty()) {
    const auto configuration = smr::read_configuration(config_);
    if (!configuration) return fail(configuration.error());
    for (const auto& replica : configuration->replicas)
      place.ports.push_back(look_at(replica.address));
  }
  return print_findings(judge(place), json_);
}

}  // namespace piracema::tools
