#include "ckpt/capsule/user_namespace.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>

#include "base/fd.h"
#include "base/text.h"

namespace piracema::ckpt {

namespace {

#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

Result<Done> write_map(const char* path, const std::string& text) {
  const Fd file(::open(path, O_WRONLY | O_CLOEXEC));
  if (file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()))
    return Done{};
  return Error{Errc::config, with_errno(path)};
}

// What criu and its hook do in a capsule. Not CAP_SETUID and CAP_SETGID: with them criu becomes
// root, whom the namespace does not have. Not CAP_SYS_RESOURCE: it does not count for limits.
constexpr int kept[] = {CAP_CHECKPOINT_RESTORE,
                        CAP_SYS_ADMIN,
                        CAP_SYS_PTRACE,
                        CAP_NET_ADMIN,
                        CAP_NET_RAW,
                        CAP_SYS_CHROOT,
                        CAP_SETPCAP,
                        CAP_DAC_OVERRIDE,
                        CAP_DAC_READ_SEARCH,
                        CAP_FOWNER,
                        CAP_KILL};

std::optional<long> switch_at(const char* path) {
  std::ifstream file(path);
  long value = 0;
  if (!(file >> value)) return std::nullopt;
  return value;
}

constexpr const char* no_capsules = "ordinary users get no capsules here: ";

}  // namespace

std::optional<OrdinaryUser> ordinary_user() {
  if (::geteuid() == 0) return std::nullopt;
  return OrdinaryUser{::geteuid(), ::getegid()};
}

// One who is alone in it may say so himself, once he has given up setgroups(2): with it he could
// leave a group that takes rights away.
Result<Done> become_again(const OrdinaryUser& user) {
  if (auto done = write_map("/proc/self/setgroups", "deny"); !done) return done;
  if (auto done = write_map("/proc/self/uid_map", concat(user.user, " ", user.user, " 1")); !done)
    return done;
  return write_map("/proc/self/gid_map", concat(user.group, " ", user.group, " 1"));
}

Result<Done> keep_rights() {
  const auto failed = [] { return Error{Errc::config, with_errno("rights in a capsule")}; };
  std::array<__user_cap_data_struct, 2> sets{};
  for (const int one : kept) {
    auto& half = sets[static_cast<std::size_t>(CAP_TO_INDEX(one))];
    half.effective |= CAP_TO_MASK(one);
    half.permitted |= CAP_TO_MASK(one);
    half.inheritable |= CAP_TO_MASK(one);
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  if (::syscall(SYS_capset, &header, sets.data()) != 0) return failed();
  for (const int one : kept) {
    // A kernel that does not know one (CAP_CHECKPOINT_RESTORE before 5.9) asks for another.
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, one, 0, 0) != 0 && errno != EINVAL)
      return failed();
  }
  return Done{};
}

NamespaceSwitches namespace_switches() {
  return {.clone = switch_at("/proc/sys/kernel/unprivileged_userns_clone"),
          .most = switch_at("/proc/sys/user/max_user_namespaces"),
          .apparmor = switch_at("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")};
}

std::string advice_of(const NamespaceSwitches& switches) {
  if (switches.clone == 0) {
    return concat(std::string_view(no_capsules),
                  "user namespaces are switched off; root switches them on by: ",
                  "sysctl -w kernel.unprivileged_userns_clone=1");
  }
  if (switches.most == 0) {
    return concat(std::string_view(no_capsules), "no user namespaces are allowed; root allows ",
                  "some by: sysctl -w user.max_user_namespaces=15000");
  }
  if (switches.apparmor.value_or(0) != 0) {
    return "AppArmor takes all rights in user namespaces away; root gives them back by: sysctl -w "
           "kernel.apparmor_restrict_unprivileged_userns=0, or by a profile of piracema-ckpt that "
           "has 'userns,'";
  }
  return {};
}

std::string namespace_advice(const std::optional<OrdinaryUser>& user) {
  if (!user) return {};
  const std::string advice = advice_of(namespace_switches());
  // In a container parts of /proc are covered, as a rule, and then the kernel gives no new one.
  return advice.empty() ? "; this machine, or the container that this is, does not let ordinary "
                          "users; root may"
                        : "; " + advice;
}

Result<Done> check_may_make_capsules() {
  if (!ordinary_user()) return Done{};
  const NamespaceSwitches switches = namespace_switches();
  // AppArmor may make an exception of this program.
  if (switches.clone != 0 && switches.most != 0) return Done{};
  return Error{Errc::config, advice_of(switches)};
}

}  // namespace piracema::ckpt
