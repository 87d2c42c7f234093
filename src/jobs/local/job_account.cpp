#include "jobs/local/job_account.h"

#include <utility>

#include "base/text.h"

namespace piracema::jobs {

using cluster::Account;

Result<std::optional<Account>> account_of(const Owner& owner, uid_t own) {
  constexpr uid_t root = 0;
  if (owner.account.empty()) {
    if (own != root || owner.user == first_user) return std::optional<Account>();
    return Error{Errc::config,
                 concat("want an account for the jobs of the user ", owner.user,
                        " on a node that runs as root, found none: piracema cluster change-user ",
                        owner.user, " --account NAME")};
  }
  auto account = Account::find(owner.account);
  if (!account) {
    return Error{
        account.error().code,
        concat(account.error().message, ", as which jobs of the user ", owner.user, " are to run")};
  }
  if (account->uid == own) return std::optional<Account>();
  if (own == root) return std::optional(*std::move(account));
  return Error{Errc::config, concat("want a node that runs as ", owner.account,
                                    " or as root for the jobs of the user ", owner.user,
                                    ", found one that runs as ", Account::name_of(own))};
}

}  // namespace piracema::jobs
