#pragma once

#include <piracema/detail/stored_states.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/engine.h"
#include "state/disk/database.h"
#include "state/disk/disk_record.h"
#include "state/disk/saved_versions.h"

namespace piracema::state {

/// The states of an operator's keys in a database; what they cost in memory does not grow with
/// them. They are saved and read as those in memory are, in the same form, so that a job can go on
/// with the one from snapshots of the other.
///
/// Each record has the version of its last write, and there is an index by version (disk_record.h),
/// so that a cut finds what has changed without a look at the rest.
class DiskStates final : public StoredStates {
 public:
  /// `types` outlives it.
  DiskStates(StateTypes& types, std::unique_ptr<Database> database);
  ~DiskStates() override;

  bool get(std::uint64_t mixed, Bytes key, Buffer& state) override;
  void put(std::uint64_t mixed, Bytes key, Bytes state) override;
  void erase(std::uint64_t mixed, Bytes key) override;
  void for_each(std::uint64_t from, Bytes key, const Use& use) override;

  void own(KeyGroups groups, GroupRange range) override;
  void reads(std::uint32_t ago) override { types_->reads(ago); }
  void load(const HashRange& range, Bytes bytes) override;
  std::uint64_t replay(std::uint32_t group, Bytes bytes, std::uint8_t number) override;
  void begin_cut(KeyedCut& cut) override;
  bool save_next() override;
  void end_cut() override;
  std::uint64_t size() const override;
  std::uint64_t in_file(std::uint8_t number) const override;
  void forget(const std::array<bool, 256>& numbers) override;
  bool changed() const override;
  void settle() override;
  std::unique_ptr<KeyedStates> take_out() override;
  void take_over(KeyedStates& from) override;

 private:
  using Head = disk_record::Head;
  /// All that it has, for who goes on with it.
  struct Content {
    std::unique_ptr<Database> database;
    GroupRange owned;
    SavedVersions versions;
    std::uint64_t size = 0;
    bool changed = true;
  };
  /// What a cut goes through: what was written in a version, of some groups.
  struct Stretch {
    SavedVersions::Id version;
    GroupRange groups;
  };
  struct Saving;

  explicit DiskStates(Content content);

  std::optional<Head> head_of(std::uint64_t mixed, Bytes key);
  std::optional<Head> look();
  std::optional<Head> see(std::optional<Head> head);
  void write(std::uint64_t mixed, Bytes key, const std::optional<Head>& was, Head head,
             Bytes state);
  void forget_record(std::uint64_t mixed, Bytes key, const Head& was);
  void enter(const std::optional<Head>& was, const Head& head);
  void replay_entry(const StateTypes::Entry& entry, SavedVersions::Id version, bool is_file);
  void save_record(std::uint64_t mixed, Bytes key);
  void drop_empty_versions();
  void drop(GroupRange groups);
  std::uint32_t group_of(std::uint64_t mixed) const;

  StateTypes* types_ = nullptr;
  KeyGroups groups_;
  Content content_;
  std::unique_ptr<Saving> saving_;

  /// The record that was looked at last, whose state lies behind its head, and its key.
  Buffer record_, record_key_;
  /// A key as the database has it now; of no record if this is empty.
  Buffer seen_key_;
  std::optional<Head> seen_;
  Buffer index_key_, written_;
  std::unique_ptr<Database::Batch> batch_;
};

}  // namespace piracema::state
