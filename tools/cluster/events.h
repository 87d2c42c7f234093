#pragma once

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/cluster/client.h"

namespace piracema::tools {

/// `piracema cluster events`: what has happened to a cluster that is not the rule.
class ClusterEvents {
 public:
  ClusterEvents(CLI::App& cluster, const std::string& footer);

  bool parsed() const { return events_->parsed(); }
  /// The exit code.
  int run() const;

 private:
  Result<Done> print_from(ClusterClient& client, std::uint64_t from) const;
  void print_all(const jobs::Answer& answer) const;

  CLI::App* events_;
  std::string directory_, timeout_ = "10s";
  bool follow_ = false, json_ = false;
};

/// "the node n2 was lost: not heard of for 5000 ms".
std::string text_of(const jobs::Event& event);
nlohmann::ordered_json json_of(const jobs::Event& event, std::uint64_t now_ms);

}  // namespace piracema::tools
