#pragma once

#include <map>
#include <mutex>
#include <string>

#include "store/objects/object_client.h"
#include "store/objects/object_place.h"
#include "store/snapshot/part_format.h"
#include "store/snapshot/part_index.h"

namespace piracema::store {

/// Reads the parts of complete snapshots. An object that is missing, or not what it should be, is
/// Errc::corrupt: a manifest names it. Any thread.
class ObjectPartReader {
 public:
  /// Both outlive it.
  ObjectPartReader(ObjectClient& client, const ObjectPlace& place)
      : client_(client), place_(place) {}

  /// All that the part holds.
  Result<Buffer> get(SnapshotId snapshot, const Part& part);
  /// Where what is in an indexed part; `part` as the manifest has it, or null.
  Result<PartIndex> index(const PartFile& of, const Part* part);
  /// A run of an indexed part.
  Result<Buffer> read(const PartFile& file, std::uint64_t offset, std::uint64_t bytes);

  /// Parts of this snapshot are gone.
  void forget(SnapshotId snapshot);

 private:
  struct Opened {
    ObjectClient::Object object;
    IndexedPart holds;
  };

  Result<ObjectClient::Read> read_part(const std::string& key, std::uint64_t offset,
                                       std::uint64_t bytes, const std::string& tag = "");
  /// All of a run, in pieces.
  Result<Buffer> read_run(const std::string& key, const ObjectClient::Object& object,
                          std::uint64_t offset, std::uint64_t bytes);
  Result<Opened> open_indexed(const PartFile& file);

  ObjectClient& client_;
  const ObjectPlace& place_;
  std::mutex mutex_;
  /// Indexed parts that were looked into, so that not every run of them costs a look.
  std::map<PartFile, Opened> opened_;
};

}  // namespace piracema::store
