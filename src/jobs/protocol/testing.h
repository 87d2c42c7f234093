#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <variant>

#include "jobs/protocol/operations.h"

namespace piracema::jobs::testing {

/// Of a node; never the user's.
inline std::uint64_t client_of(const std::string& node) {
  return first_client + 1 + std::hash<std::string>()(node) % 1'000'000'000;
}

/// The client of the group that may say this.
inline std::uint64_t honest_client(const Operation& operation) {
  return std::visit(
      [](const auto& what) {
        using What = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<What, Join> || std::is_same_v<What, Report> ||
                      std::is_same_v<What, Leave>) {
          return client_of(what.node);
        } else {
          return first_client;
        }
      },
      operation);
}

}  // namespace piracema::jobs::testing
