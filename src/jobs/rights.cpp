#include "jobs/rights.h"

#include <type_traits>
#include <variant>

#include "base/text.h"

namespace piracema::jobs {

namespace {

/// The node that says it; null: the user does.
const std::string* sayer(const Operation& operation) {
  return std::visit(
      [](const auto& what) -> const std::string* {
        using What = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<What, Join> || std::is_same_v<What, Report> ||
                      std::is_same_v<What, Leave>) {
          return &what.node;
        } else {
          return nullptr;
        }
      },
      operation);
}

}  // namespace

std::optional<std::string> refusal(std::uint64_t client, const Operation& operation,
                                   const std::map<std::string, Node>& nodes) {
  if (is_question(operation)) return std::nullopt;
  const std::string* const name = sayer(operation);
  if (name == nullptr) {
    if (client == user_client) return std::nullopt;
    return "want the key of the cluster's user for that (user.key), found a node's";
  }
  if (client == user_client) return "want the key of a node for that, found the user's";
  const auto found = nodes.find(*name);
  if (found != nodes.end() && found->second.client != client) {
    return concat("the node ", *name, " has another key");
  }
  if (!std::holds_alternative<Join>(operation)) return std::nullopt;
  for (const auto& [other_name, other] : nodes) {
    if (other.client != client || other_name == *name) continue;
    return concat("want one node for a key, found that of the node ", other_name);
  }
  return std::nullopt;
}

}  // namespace piracema::jobs
