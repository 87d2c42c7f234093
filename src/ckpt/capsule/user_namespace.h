#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <optional>
#include <string>

/// How an ordinary user gets a capsule: in a user namespace of its own, where he is who he is
/// outside and nobody else is there. No rights are needed for that, and none are gained: those
/// that criu wants count for what the namespace owns, which is the capsule.
namespace piracema::ckpt {

struct OrdinaryUser {
  uid_t user = 0;
  gid_t group = 0;
};

/// Who runs this process, unless it is root.
std::optional<OrdinaryUser> ordinary_user();

/// In the first process of a new user namespace: has the same user and group as outside.
/// Errc::config.
Result<Done> become_again(const OrdinaryUser& user);

/// Before this process becomes criu or its hook: what it may do in its own namespaces it may do
/// afterwards. Whoever does not call this, as the job, may do nothing more than outside.
/// Errc::config.
Result<Done> keep_rights();

/// What the administrator of a machine allows ordinary users; a switch that the kernel does not
/// have is not set.
struct NamespaceSwitches {
  /// kernel.unprivileged_userns_clone, user.max_user_namespaces and
  /// kernel.apparmor_restrict_unprivileged_userns.
  std::optional<long> clone, most, apparmor;
};
NamespaceSwitches namespace_switches();

/// What does not let ordinary users have capsules, or may not, and the command that mends it; empty
/// if no switch is known to.
std::string advice_of(const NamespaceSwitches& switches);

/// The end of a message that a capsule could not be made: the advice for this machine, or that root
/// would do. Empty for root.
std::string namespace_advice(const std::optional<OrdinaryUser>& user);

/// Errc::config where this process is known to get no capsule, before anything is begun. That it
/// gets one is known when it has it.
Result<Done> check_may_make_capsules();

}  // namespace piracema::ckpt
