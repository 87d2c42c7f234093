#include "ckpt/capsule_setup.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/text.h"
#include "ckpt/netlink.h"

namespace piracema::ckpt {

namespace {

constexpr const char* last_pid_file = "/proc/sys/kernel/ns_last_pid";

Result<Done> mount_at(const char* what, const char* where, const char* kind, unsigned long flags,
                      const char* options) {
  if (::mount(what, where, kind, flags, options) == 0) return Done{};
  return Error{Errc::config, with_errno(concat("capsule: cannot mount ", std::string_view(where)))};
}

// Nothing that is mounted from here on is seen outside, and the other way round.
Result<Done> mount_all() {
  if (auto done = mount_at("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr); !done) return done;
  if (auto done = mount_at("proc", "/proc", "proc", MS_NOSUID | MS_NOEXEC | MS_NODEV, nullptr);
      !done)
    return done;
  // Its files are saved with the image: session directories of MPIs, and their shared memory.
  if (auto done = mount_at("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"); !done)
    return done;
  if (::mkdir("/dev/shm/tmp", 01777) != 0 || ::chmod("/dev/shm/tmp", 01777) != 0) {
    return Error{Errc::io, with_errno("capsule: /dev/shm/tmp")};
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
  if (settings.bridge.empty()) {
    if (auto done = netlink->add_veth("c0", "c1", 0); !done) return done;
    if (auto done = netlink->set_up("c1", true); !done) return done;
  }
  if (auto done = netlink->add_address("c0", *address, settings.prefix_bits); !done) return done;
  if (auto done = netlink->set_up("c0", true); !done) return done;
  return netlink->set_up("lo", true);
}

}  // namespace

Result<Done> set_up_capsule(const CapsuleSettings& settings) {
  if (auto done = mount_all(); !done) return done;
  if (auto done = set_up_network(settings); !done) return done;
  if (::sethostname(settings.host_name.data(), settings.host_name.size()) != 0) {
    return Error{Errc::io, with_errno("capsule: host name")};
  }
  // Temporary files are the job's own there, and in its image.
  ::setenv("TMPDIR", "/dev/shm/tmp", 1);
  return Done{};
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
