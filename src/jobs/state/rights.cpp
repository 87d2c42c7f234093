#include "jobs/state/rights.h"

#include <type_traits>
#include <variant>

#include "base/text.h"

namespace piracema::jobs {

namespace {

template <class What>
constexpr bool is_of_node =
    std::is_same_v<What, Join> || std::is_same_v<What, Report> || std::is_same_v<What, Leave>;
template <class What>
constexpr bool is_of_job =
    std::is_same_v<What, Cancel> || std::is_same_v<What, RunBeside> || std::is_same_v<What, Resize>;

/// The node that says it; null: a user does.
const std::string* sayer(const Operation& operation) {
  return std::visit(
      [](const auto& what) -> const std::string* {
        if constexpr (is_of_node<std::decay_t<decltype(what)>>) {
          return &what.node;
        } else {
          return nullptr;
        }
      },
      operation);
}

/// The job that it is about; 0: none that is there already.
JobId job_of(const Operation& operation) {
  return std::visit(
      [](const auto& what) -> JobId {
        if constexpr (is_of_job<std::decay_t<decltype(what)>>) {
          return what.job;
        } else {
          return 0;
        }
      },
      operation);
}

std::optional<std::string> refusal_of_node(std::uint64_t client, const std::string& name,
                                           const Operation& operation, const Known& known) {
  if (const User* const user = known.users.of_client(client)) {
    return concat("want the key of a node for that, found that of the user ", user->name);
  }
  const auto found = known.nodes.find(name);
  if (found != known.nodes.end() && found->second.client != client) {
    return concat("the node ", name, " has another key");
  }
  if (!std::holds_alternative<Join>(operation)) return std::nullopt;
  for (const auto& [other_name, other] : known.nodes) {
    if (other.client != client || other_name == name) continue;
    return concat("want one node for a key, found that of the node ", other_name);
  }
  return std::nullopt;
}

std::optional<std::string> refusal_of_user(std::uint64_t client, const Operation& operation,
                                           const Known& known) {
  const User* const user = known.users.of_client(client);
  if (user == nullptr) return "want the key of a user for that (user.key), found a node's";
  if (user->role == Role::administer) return std::nullopt;
  const JobId job = job_of(operation);
  const bool wants_place = std::holds_alternative<Submit>(operation);
  if (user->role == Role::look || (job == 0 && !wants_place)) {
    return concat("the user ", user->name, " has the role ", name_of(user->role), ": want ",
                  job != 0 || wants_place ? "submit" : "administer", " for that");
  }
  const auto found = known.jobs.find(job);
  if (wants_place || found == known.jobs.end() || found->second.owner.user == user->name) {
    return std::nullopt;
  }
  return concat("job ", job, " is of the user ", found->second.owner.user, ", found the user ",
                user->name, ": want that one, or one who administers the cluster");
}

}  // namespace

std::optional<std::string> refusal(std::uint64_t client, const Operation& operation,
                                   const Known& known) {
  if (is_question(operation)) return std::nullopt;
  if (const std::string* const node = sayer(operation)) {
    return refusal_of_node(client, *node, operation, known);
  }
  return refusal_of_user(client, operation, known);
}

}  // namespace piracema::jobs
