#include "tools/cluster/users.h"

#include <piracema/smr/administrator.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/parse.h"
#include "base/text.h"
#include "store/disk/file_lock.h"
#include "tools/cluster/user_home.h"
#include "tools/cluster/view.h"
#include "tools/failure.h"

namespace piracema::tools {

namespace {

constexpr std::array roles{jobs::Role::look, jobs::Role::submit, jobs::Role::administer};

/// One of those names.
jobs::Role role_named(const std::string& name) {
  return *std::find_if(roles.begin(), roles.end(),
                       [&](jobs::Role role) { return name_of(role) == name; });
}

/// As the cluster knows it; nullopt: it does not.
Result<std::optional<jobs::User>> find_user(ClusterClient& client, const std::string& name) {
  auto answer = client.ask(jobs::ListUsers{});
  if (!answer) return answer.error();
  for (jobs::User& user : answer->users) {
    if (user.name == name) return std::optional(std::move(user));
  }
  return std::optional<jobs::User>();
}

}  // namespace

ClusterUsers::ClusterUsers(CLI::App& cluster, const std::string& footer) {
  const char* const for_keys = ", administrator.key";
  const auto add = [&](const char* name, const char* help, const char* more) {
    CLI::App* const command = cluster.add_subcommand(name, help);
    add_cluster_options(*command, directory_, timeout_text_, more);
    return command;
  };
  const auto add_rights = [&](CLI::App& command, const std::string& otherwise) {
    std::vector<std::string> names;
    for (const jobs::Role role : roles) names.emplace_back(name_of(role));
    command
        .add_option("--role", role_,
                    concat("look: sees all; submit: has its own jobs run, too; administer:\n"
                           "drains nodes and cancels jobs of others, too; default: ",
                           otherwise.empty() ? "submit" : otherwise))
        ->check(CLI::IsMember(names));
    command.add_option(
        "--account", account_,
        concat("The account of nodes' machines that its jobs run as, if nodes run\n"
               "as root; default: ",
               otherwise.empty() ? "none, and such nodes run none of its jobs" : otherwise));
  };
  add_ = add("add-user", "Give somebody a key of his own to a cluster that runs", for_keys);
  add_->add_option("NAME", name_, "Of the user")->required();
  add_rights(*add_, "");
  add_->footer(
      concat("Makes users/NAME in the directory of the cluster, which has administrator.key. Give\n"
             "that folder to the user, who asks the cluster from it:\n"
             "  piracema cluster jobs --cluster NAME\n\n"
             "A node that runs as root runs jobs as their user's account. Other nodes run them as\n"
             "themselves, and refuse those of users with another account.\n\n",
             footer));
  change_ = add("change-user", "Give a user another role or account", "");
  change_->add_option("NAME", name_, "Of the user")->required();
  add_rights(*change_, "as it was");
  change_->footer(concat("Jobs that were asked for before keep their account.\n\n", footer));
  remove_ = add("remove-user", "Take a user's key and rights from it, for good", for_keys);
  remove_->add_option("NAME", name_, "Of the user")->required();
  remove_->footer(
      concat("Removes users/NAME in the directory of the cluster, too. Its jobs go on; whoever\n"
             "administers the cluster may cancel them.\n\n",
             footer));
  list_ = add("users", "List the users", "");
  list_->add_flag("--json", json_, "One JSON object for each");
  list_->footer(footer);
}

bool ClusterUsers::parsed() const {
  return add_->parsed() || change_->parsed() || remove_->parsed() || list_->parsed();
}

int ClusterUsers::run() {
  const auto timeout = parse_duration(timeout_text_);
  if (!timeout) return fail_asked({Errc::usage, "--timeout: " + timeout.error().message});
  timeout_ = *timeout;
  auto client = ClusterClient::open(directory_, timeout_);
  if (!client) return fail_asked(client.error());
  const auto done = list_->parsed()     ? list(*client)
                    : change_->parsed() ? change_user(*client)
                    : add_->parsed()    ? add_user(*client)
                                        : remove_user(*client);
  return done ? 0 : fail_asked(done.error());
}

// Each step may be done once more: what was interrupted is asked for again. The key is one of the
// group's before the cluster hears of the user, so that no other gets its number.
Result<Done> ClusterUsers::add_user(ClusterClient& client) const {
  if (auto right = jobs::check_name(name_); !right) return right;
  const auto lock = store::lock_file(directory_ + "/membership.lock", "change of the users");
  if (!lock) return lock.error();
  const auto known = find_user(client, name_);
  if (!known) return known.error();
  if (*known) {
    return Error{Errc::refused, concat("the cluster has a user ", name_,
                                       " already: say `change-user`, or `remove-user` first")};
  }
  const std::string home = UserHome::of(directory_, name_);
  if (!std::filesystem::exists(home + "/user.json")) {
    const auto added = UserHome::prepare(directory_, name_);
    if (!added) return added.error();
    auto administrator = open_administrator(directory_, timeout_);
    if (!administrator) return administrator.error();
    if (auto done = (*administrator)->admit(added->client, added->public_key); !done) return done;
    if (auto done = UserHome::add(directory_, name_, *added); !done) return done;
  }
  const auto user = UserHome::read(home);
  if (!user) return user.error();
  const jobs::Role role = role_ ? role_named(*role_) : jobs::Role::submit;
  const auto put = client.ask(jobs::PutUser{{name_, user->client, role, account_.value_or("")}});
  if (!put) return put.error();
  std::printf("made %s. Give it to %s, who says:\n  piracema cluster jobs --cluster %s\n",
              home.c_str(), name_.c_str(), name_.c_str());
  return Done{};
}

Result<Done> ClusterUsers::change_user(ClusterClient& client) const {
  auto known = find_user(client, name_);
  if (!known) return known.error();
  if (!*known) return Error{Errc::refused, concat("the cluster has no user ", name_)};
  jobs::User user = **std::move(known);
  if (role_) user.role = role_named(*role_);
  if (account_) user.account = *account_;
  if (const auto put = client.ask(jobs::PutUser{user, true}); !put) return put.error();
  return Done{};
}

Result<Done> ClusterUsers::remove_user(ClusterClient& client) const {
  if (auto right = jobs::check_name(name_); !right) return right;
  const auto lock = store::lock_file(directory_ + "/membership.lock", "change of the users");
  if (!lock) return lock.error();
  const auto known = find_user(client, name_);
  if (!known) return known.error();
  UserHome user{.name = name_, .client = 0, .key_file = ""};
  if (*known) {
    user.client = (*known)->client;
  } else {
    const std::string home = UserHome::of(directory_, name_);
    if (!std::filesystem::exists(home + "/user.json")) {
      return Error{Errc::refused, concat("the cluster has no user ", name_)};
    }
    auto read = UserHome::read(home);
    if (!read) return read.error();
    user = *std::move(read);
  }
  if (user.client == jobs::first_client) {
    return Error{Errc::refused, concat("the user ", name_, " has made the cluster and stays")};
  }
  auto administrator = open_administrator(directory_, timeout_);
  if (!administrator) return administrator.error();
  if (auto done = (*administrator)->dismiss(user.client); !done) return done;
  if (const auto dropped = client.ask(jobs::DropUser{name_}); !dropped) return dropped.error();
  if (auto done = UserHome::remove(directory_, user); !done) return done;
  std::printf("%s is no user of the cluster any more\n", name_.c_str());
  return Done{};
}

Result<Done> ClusterUsers::list(ClusterClient& client) const {
  const auto answer = client.ask(jobs::ListUsers{});
  if (!answer) return answer.error();
  if (!json_) std::printf("%s\n", user_header().c_str());
  for (const jobs::User& user : answer->users) {
    if (json_) {
      print(json_of(user));
    } else {
      std::printf("%s\n", line_of(user).c_str());
    }
  }
  return Done{};
}

}  // namespace piracema::tools
