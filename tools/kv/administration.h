#pragma once

#include <piracema/smr/administrator.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace piracema::tools {

/// `piracema kv members`, `change`, `admit` and `dismiss`: who the replicas and clients are, and
/// changes of that while the group runs.
class KvAdministration {
 public:
  /// Adds the subcommands to `kv`, which outlives it.
  KvAdministration(CLI::App& kv, const std::string& footer);

  bool parsed() const;
  /// Runs what was parsed: the exit code.
  int run();

 private:
  CLI::App* add(CLI::App& kv, const char* name, const char* help, const std::string& footer);
  Result<smr::Members> change(smr::Administrator& administrator,
                              const smr::Configuration& configuration) const;
  int show(const smr::Members& members) const;

  CLI::App* members_ = nullptr;
  CLI::App* change_ = nullptr;
  CLI::App* admit_ = nullptr;
  CLI::App* dismiss_ = nullptr;

  std::string config_, key_, timeout_ = "10s", public_key_;
  std::vector<std::uint32_t> remove_, add_;
  std::int64_t f_ = -1;
  std::uint64_t client_ = 0;
  bool at_once_ = false, json_ = false;
};

}  // namespace piracema::tools
