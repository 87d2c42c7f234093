#include "ckpt/capsule/capsule_setup.h"

#include <fcntl.h>
#include <piracema/ckpt.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "base/text.h"
#include "ckpt/capsule/good_moments.h"
#include "ckpt/network/loopback.h"
#include "ckpt/network/netlink.h"

namespace piracema::ckpt {

namespace {

constexpr const char* last_pid_file = "/proc/sys/kernel/ns_last_pid";

Result<Done> mount_at(const char* what, const char* where, const char* kind, unsigned long flags,
                      const char* options) {
  if (::mount(what, where, kind, flags, options) == 0) return Done{};
  return Error{Errc::config, with_errno(concat("capsule: cannot mount ", std::string_view(where)))};
}

// MPIs look for each other by the names of their hosts. The file lies in memory that is gone from
// sight when /dev/shm gets its own.
Result<Done> mount_names(const CapsuleSettings& settings) {
  if (auto done = mount_at("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755"); !done)
    return done;
  std::ofstream file("/dev/shm/hosts");
  file << "127.0.0.1 localhost\n";
  for (std::size_t host = 0; host < settings.names.size(); ++host) {
    file << address_of(host) << ' ' << settings.names[host] << '\n';
  }
  file.close();
  if (!file) return Error{Errc::io, with_errno("capsule: names of hosts")};
  return mount_at("/dev/shm/hosts", "/etc/hosts", nullptr, MS_BIND, nullptr);
}

// /sys tells of the network namespace in which it was mounted, and MPIs (UCX) look there for links.
// What lies below stays: criu reads /sys/fs/cgroup.
Result<Done> mount_system() {
  const char* const groups = "/sys/fs/cgroup";
  const Fd old(::open(groups, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (auto done =
          mount_at("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NOEXEC | MS_NODEV | MS_RDONLY, nullptr);
      !done)
    return done;
  if (!old) return Done{};
  const std::string same = concat("/proc/self/fd/", old.get());
  return mount_at(same.c_str(), groups, nullptr, MS_BIND | MS_REC, nullptr);
}

// Nothing that is mounted from here on is seen outside, and the other way round.
Result<Done> mount_all(const CapsuleSettings& settings) {
  if (auto done = mount_at("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr); !done) return done;
  if (auto done = mount_at("proc", "/proc", "proc", MS_NOSUID | MS_NOEXEC | MS_NODEV, nullptr);
      !done)
    return done;
  if (!settings.names.empty()) {
    if (auto done = mount_names(settings); !done) return done;
  }
  if (auto done = mount_system(); !done) return done;
  // Its files are saved with the image: session directories of MPIs, and their shared memory.
  if (auto done = mount_at("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"); !done)
    return done;
  if (::mkdir(capsule_temporary, 01777) != 0 || ::chmod(capsule_temporary, 01777) != 0) {
    return Error{Errc::io, with_errno(concat("capsule: ", std::string_view(capsule_temporary)))};
  }
  // Of its own, so that a restored pty has the number that it had.
  if (auto done = mount_at("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
                           "newinstance,ptmxmode=0666,mode=0620");
      !done)
    return done;
  return mount_at("/dev/pts/ptmx", "/dev/ptmx", nullptr, MS_BIND, nullptr);
}

Result<Done> set_up_network(const CapsuleSettings& settings) {
  const auto address = parse_ipv4(settings.address);
  if (!address) return address.error();
  auto netlink = Netlink::open();
  if (!netlink) return netlink.error();
  if (settings.network < 0) {
    if (auto done = netlink->add_veth("c0", "c1"); !done) return done;
    if (auto done = netlink->set_up("c1", true); !done) return done;
  }
  if (auto done = netlink->add_address("c0", *address, settings.prefix_bits); !done) return done;
  if (auto done = netlink->set_up("c0", true); !done) return done;
  if (auto done = netlink->set_up("lo", true); !done) return done;
  // Whether it can be held is better known now than when the job is to be saved.
  if (auto done = hold_loopback(); !done) return done;
  return release_loopback();
}

// The kernel makes buffers of TCP larger than a program may that is not root outside, as criu is
// not that fills them again. So none gets larger here than what may be asked for.
Result<Done> bound_tcp_buffers() {
  constexpr int most = 1 << 30;
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  for (const auto& [option, path] : {std::pair{SO_RCVBUF, "/proc/sys/net/ipv4/tcp_rmem"},
                                     std::pair{SO_SNDBUF, "/proc/sys/net/ipv4/tcp_wmem"}}) {
    int granted = 0;
    socklen_t bytes = sizeof granted;
    if (::setsockopt(socket.get(), SOL_SOCKET, option, &most, sizeof most) != 0 ||
        ::getsockopt(socket.get(), SOL_SOCKET, option, &granted, &bytes) != 0) {
      return Error{Errc::io, with_errno("capsule: buffers of a socket")};
    }
    long least = 0, usual = 0, largest = 0;
    std::fstream file(path);
    if (!(file >> least >> usual >> largest)) return Error{Errc::io, with_errno(path)};
    if (largest <= granted) continue;
    file.seekp(0);
    file << least << ' ' << std::min<long>(usual, granted) << ' ' << granted << std::flush;
    if (!file) return Error{Errc::config, with_errno(concat("capsule: ", std::string_view(path)))};
  }
  return Done{};
}

}  // namespace

Result<std::optional<Overlay>> set_up_capsule(const CapsuleSettings& settings,
                                              const std::optional<OrdinaryUser>& user) {
  if (user) {
    if (auto done = become_again(*user); !done) return done.error();
  }
  if (auto done = mount_all(settings); !done) {
    return Error{done.error().code, done.error().message + namespace_advice(user)};
  }
  std::optional<Overlay> overlay;
  if (settings.network >= 0) {
    auto made = Overlay::open(Fd(settings.network), settings.token);
    if (!made) return made.error();
    overlay = *std::move(made);
  }
  if (auto done = set_up_network(settings); !done) return done.error();
  if (user) {
    if (auto done = bound_tcp_buffers(); !done) return done.error();
  }
  if (::sethostname(settings.host_name.data(), settings.host_name.size()) != 0) {
    return Error{Errc::io, with_errno("capsule: host name")};
  }
  name_places();
  // Left alone UCX takes System V segments, which no image holds. Of a job on several hosts the
  // environment comes with the order.
  ::setenv("UCX_TLS", "self,posix", 0);
  return overlay;
}

// Temporary files are the job's own there, and in its image.
void name_places() {
  ::setenv("TMPDIR", capsule_temporary, 1);
  ::setenv(PIRACEMA_CKPT_BOARD_VARIABLE, good_moments_file, 1);
}

Result<Done> set_last_pid(int pid) {
  std::ofstream file(last_pid_file);
  file << pid;
  file.close();
  if (!file) return Error{Errc::config, with_errno(last_pid_file)};
  return Done{};
}

Result<int> last_pid() {
  std::ifstream file(last_pid_file);
  int pid = 0;
  if (!(file >> pid)) return Error{Errc::io, with_errno(last_pid_file)};
  return pid;
}

}  // namespace piracema::ckpt
