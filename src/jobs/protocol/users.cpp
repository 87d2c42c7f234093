#include "jobs/protocol/users.h"

#include <algorithm>

#include "base/text.h"
#include "jobs/protocol/operations.h"

namespace piracema::jobs {

namespace {

Error not_put(std::string why) { return {Errc::refused, std::move(why)}; }

}  // namespace

const char* name_of(Role role) {
  switch (role) {
    case Role::look:
      return "look";
    case Role::submit:
      return "submit";
    case Role::administer:
      return "administer";
  }
  return "unknown";
}

Users::Users() {
  users_[first_user] = {
      .name = first_user, .client = first_client, .role = Role::administer, .account = ""};
}

const User* Users::of_client(std::uint64_t client) const {
  const auto found = std::find_if(users_.begin(), users_.end(),
                                  [&](const auto& one) { return one.second.client == client; });
  return found == users_.end() ? nullptr : &found->second;
}

Result<Done> Users::put(const User& user) {
  if (auto right = check_name(user.name); !right) return not_put(right.error().message);
  if (user.role > Role::administer) return not_put("want a role that there is");
  if (!user.account.empty()) {
    const auto right = check_name(user.account);
    if (!right || user.account.size() > account_bytes_max) {
      return not_put(concat("want an account of at most ", account_bytes_max,
                            " letters, digits, '.', '-' and '_', found '",
                            user.account.substr(0, account_bytes_max), "'"));
    }
  }
  if (user.name == first_user) {
    return not_put(concat("the user ", first_user, " has made the cluster and stays as it is"));
  }
  const auto known = users_.find(user.name);
  if (known != users_.end() && known->second.client != user.client) {
    return not_put(concat("there is a user ", user.name, " already, with another key"));
  }
  const User* const other = of_client(user.client);
  if (other != nullptr && other->name != user.name) {
    return not_put(concat("want a key for each user, found that of the user ", other->name));
  }
  if (known == users_.end() && users_.size() >= users_max) {
    return not_put(concat("want at most ", users_max, " users"));
  }
  users_[user.name] = user;
  return Done{};
}

Result<Done> Users::drop(const std::string& name) {
  if (name == first_user) {
    return not_put(concat("the user ", first_user, " has made the cluster and stays"));
  }
  users_.erase(name);
  return Done{};
}

bool Users::replace(const std::vector<User>& list) {
  Users users;
  for (const User& user : list) {
    if (user.name != first_user && !users.put(user)) return false;
  }
  if (users.users_.size() != list.size()) return false;
  *this = std::move(users);
  return true;
}

}  // namespace piracema::jobs
