#include "os/account.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace piracema::cluster {

namespace {

// Entries of directory services may be long; no honest one is longer.
constexpr std::size_t entry_bytes_max = std::size_t{1} << 20;
constexpr int groups_max = 65'536;

/// `look` is getpwnam_r or getpwuid_r of something; null with errno 0 if there is none.
template <class Look>
const passwd* look_up(passwd& entry, std::vector<char>& bytes, Look look) {
  passwd* found = nullptr;
  int failed = ERANGE;
  for (bytes.resize(1'024); failed == ERANGE && bytes.size() <= entry_bytes_max;
       bytes.resize(2 * bytes.size())) {
    failed = look(&entry, bytes.data(), bytes.size(), &found);
    if (failed != ERANGE) break;
  }
  errno = failed;
  return failed == 0 ? found : nullptr;
}

}  // namespace

Result<Account> Account::find(const std::string& name) {
  passwd entry{};
  std::vector<char> bytes;
  const passwd* const found =
      look_up(entry, bytes, [&](auto... into) { return ::getpwnam_r(name.c_str(), into...); });
  if (found == nullptr) {
    // Several libraries say so in place of finding nothing.
    const bool is_none =
        errno == 0 || errno == ENOENT || errno == ESRCH || errno == EBADF || errno == EPERM;
    if (is_none) return Error{Errc::config, concat("there is no account '", name, "' here")};
    return Error{Errc::io, with_errno(concat("the account '", name, "'"))};
  }
  Account account{.name = name,
                  .home = found->pw_dir,
                  .shell = found->pw_shell,
                  .uid = found->pw_uid,
                  .gid = found->pw_gid,
                  .groups = {}};
  int count = 64;
  account.groups.resize(static_cast<std::size_t>(count));
  while (::getgrouplist(name.c_str(), account.gid, account.groups.data(), &count) < 0) {
    if (count > groups_max || count <= static_cast<int>(account.groups.size())) {
      return Error{Errc::io, concat("the groups of the account '", name, "' cannot be read")};
    }
    account.groups.resize(static_cast<std::size_t>(count));
  }
  account.groups.resize(static_cast<std::size_t>(count));
  return account;
}

std::string Account::name_of(uid_t uid) {
  passwd entry{};
  std::vector<char> bytes;
  const passwd* const found =
      look_up(entry, bytes, [&](auto... into) { return ::getpwuid_r(uid, into...); });
  return found == nullptr ? std::to_string(uid) : found->pw_name;
}

RightsOf::RightsOf(const std::optional<Account>& account) : is_other_(account.has_value()) {
  if (!is_other_) return;
  const int count = ::getgroups(0, nullptr);
  groups_.resize(static_cast<std::size_t>(std::max(0, count)));
  const bool is_so = ::getgroups(count, groups_.data()) == count &&
                     ::setgroups(account->groups.size(), account->groups.data()) == 0 &&
                     ::setegid(account->gid) == 0 && ::seteuid(account->uid) == 0;
  if (!is_so) ::_exit(127);
}

RightsOf::~RightsOf() {
  if (!is_other_) return;
  const bool is_so = ::seteuid(::getuid()) == 0 && ::setegid(::getgid()) == 0 &&
                     ::setgroups(groups_.size(), groups_.data()) == 0;
  if (!is_so) ::_exit(127);
}

}  // namespace piracema::cluster
