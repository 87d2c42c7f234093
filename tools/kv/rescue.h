#pragma once

#include <piracema/smr/backup.h>
#include <piracema/smr/client.h>
#include <piracema/smr/key_value.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace piracema::tools {

/// `piracema kv backup`, `restore` and `new-group`: what is left of a group of which more than f
/// disks are lost, and a new group that begins with it.
class KvRescue {
 public:
  /// Adds the subcommands to `kv`, which outlives it.
  KvRescue(CLI::App& kv, const std::string& footer);

  bool parsed() const { return backup_->parsed() || restore_->parsed() || new_group_->parsed(); }
  /// Runs what was parsed: the exit code.
  int run() const;

 private:
  /// What a map has that another one can begin with, and what not.
  struct Contents {
    smr::kv::Index index = 0;
    std::vector<smr::kv::Entry> entries;
    /// Bound to leases, whose holders know nothing of another group.
    std::size_t leased = 0;
  };

  int back_up() const;
  int restore() const;
  int make_new_group() const;
  Result<smr::Backup> read_replica(const smr::Configuration& configuration) const;
  static Result<Contents> contents_of(const smr::Backup& backup);
  static Result<Done> load(smr::Client& client, const Contents& contents, std::size_t part_most);
  static Result<Done> load_part(smr::Client& client, smr::kv::Load& part);

  CLI::App* backup_ = nullptr;
  CLI::App* restore_ = nullptr;
  CLI::App* new_group_ = nullptr;
  std::string config_, key_, directory_, file_, timeout_ = "60s", name_, write_;
  std::uint32_t id_ = 0;
  std::uint64_t client_ = 1;
  bool force_ = false;
};

}  // namespace piracema::tools
